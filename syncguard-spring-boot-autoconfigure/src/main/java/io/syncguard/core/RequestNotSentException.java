package io.syncguard.core;

import io.syncguard.LockBackendException;

/**
 * The request never left this process, because no connection could be had for it. Its outcome is not in doubt: nothing was done,
 * and nothing will be, whatever the code.
 */
public final class RequestNotSentException extends LockBackendException {

    private static final long serialVersionUID = 1L;

    /** @param error what kept the request from being sent */
    public RequestNotSentException(LockBackendException error) {
        super(error.code(), String.valueOf(error.getMessage()), error.getCause());
    }
}
