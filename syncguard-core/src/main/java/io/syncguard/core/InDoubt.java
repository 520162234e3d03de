package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.spi.RequestNotSentException;

/** Whether an error leaves the outcome in doubt: the server may have executed the request, or may still do so. */
final class InDoubt {

    private InDoubt() {}

    static boolean is(Throwable error) {
        if (error instanceof RequestNotSentException) {
            return false;
        }
        return !(error instanceof LockBackendException known)
                || switch (known.code()) {
                    case SERVICE_UNAVAILABLE, NETWORK_TIMEOUT, ABORTED, INTERNAL -> true;
                    default -> false;
                };
    }
}
