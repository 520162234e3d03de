package io.syncguard.web;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;

/**
 * The header with the fence of a request is missing or malformed.
 */
public class FenceHeaderException extends LockException {

    private static final long serialVersionUID = 1L;

    FenceHeaderException(String message) {
        super(LockErrorCode.INVALID_ARGUMENT, message);
    }
}
