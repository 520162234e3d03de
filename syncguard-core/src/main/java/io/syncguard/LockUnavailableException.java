package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * The server of the locks failed when the first lock of a thread was acquired, for a reason that passes, or too many
 * reactive calls wait already. No body ran under a lock, so the whole call can be repeated, unless it did other work
 * before.
 */
public class LockUnavailableException extends LockBackendException {

    private static final long serialVersionUID = 1L;

    public LockUnavailableException(LockErrorCode code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
