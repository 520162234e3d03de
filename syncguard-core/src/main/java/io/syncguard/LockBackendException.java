package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * The server, the network or the connection pool failed. Whether the operation took effect may be unknown.
 */
public class LockBackendException extends LockException {

    private static final long serialVersionUID = 1L;

    public LockBackendException(LockErrorCode code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
