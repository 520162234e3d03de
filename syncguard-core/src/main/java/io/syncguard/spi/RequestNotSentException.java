package io.syncguard.spi;

import io.syncguard.LockBackendException;

/**
 * The request was not sent, because there was no connection for it. Its outcome is not in doubt, whatever the code: the
 * server did nothing.
 */
public final class RequestNotSentException extends LockBackendException {

    private static final long serialVersionUID = 1L;

    /** @param error why the request was not sent */
    public RequestNotSentException(LockBackendException error) {
        super(error.code(), String.valueOf(error.getMessage()), error.getCause());
    }
}
