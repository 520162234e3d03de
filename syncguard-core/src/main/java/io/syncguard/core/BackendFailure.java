package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;

/** Classifies the failures of a backend. */
final class BackendFailure {

    private BackendFailure() {}

    /** Whether a later request may succeed without a repair. */
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
