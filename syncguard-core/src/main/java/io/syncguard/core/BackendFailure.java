package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.RequestNotSentException;

/** Classifies the failures of a backend. */
final class BackendFailure {

    private BackendFailure() {}

    /** Whether the server may have executed the request, or may still do so. */
    static boolean isInDoubt(Throwable error) {
        return !(error instanceof RequestNotSentException)
                && (!(error instanceof LockBackendException known)
                        || known.code().isInDoubt());
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
