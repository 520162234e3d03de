package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.spi.RequestNotSentException;

/** An error after which the server may have done, or may yet do, what it was asked. */
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
