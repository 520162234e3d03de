package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;

/** Turns what a backend throws against its contract, such as an {@link Error}, into a {@link LockBackendException}. */
final class BackendFailure {

    private BackendFailure() {}

    /** @param what names what failed, such as "The release failed" */
    static LockBackendException of(String what, Throwable error) {
        return error instanceof LockBackendException known
                ? known
                : new LockBackendException(LockErrorCode.INTERNAL, what + ": " + error.getMessage(), error);
    }
}
