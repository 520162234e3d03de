package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;

/** What a backend throws against its contract, an {@link Error} for one, as the failure that it means for a lock. */
final class BackendFailure {

    private BackendFailure() {}

    /** @param what has failed, such as "The release failed" */
    static LockBackendException of(String what, Throwable error) {
        return error instanceof LockBackendException known
                ? known
                : new LockBackendException(LockErrorCode.INTERNAL, what + ": " + error.getMessage(), error);
    }
}
