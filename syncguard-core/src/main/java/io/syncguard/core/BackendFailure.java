package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;

/** What the failure of a backend is, and whether it passes. */
final class BackendFailure {

    private BackendFailure() {}

    /** Whether a later request may succeed although nobody mends anything. */
    static boolean passes(LockBackendException failure) {
        return switch (failure.code()) {
            case SERVICE_UNAVAILABLE, NETWORK_TIMEOUT, RATE_LIMITED -> true;
            default -> false;
        };
    }

    /**
     * Turns what a backend throws against its contract, such as an {@link Error}, into a {@link LockBackendException}.
     *
     * @param what names what failed, such as "The release failed"
     */
    static LockBackendException of(String what, Throwable error) {
        return error instanceof LockBackendException known
                ? known
                : new LockBackendException(LockErrorCode.INTERNAL, what + ": " + error.getMessage(), error);
    }
}
