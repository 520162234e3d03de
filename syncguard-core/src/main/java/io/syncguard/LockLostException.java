package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * The lease ended before its holder released it: what the body did last may have met another holder's work.
 *
 * <p>Thrown when the body has ended, or instead of starting one. Where the body failed because the loss interrupted it,
 * what it threw is the {@link #getCause() cause}. Where it failed by itself, its own exception is thrown and this one
 * is suppressed beneath it.
 */
public class LockLostException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;

    /** Without a cause, such as for a mock in a test. */
    public LockLostException(String key, String message) {
        this(key, message, null);
    }

    /** @param cause what the body threw when the loss interrupted it */
    public LockLostException(String key, String message, @Nullable Throwable cause) {
        super(LockErrorCode.LOST, message, cause);
        this.key = key;
    }

    /** The key whose lease was lost. */
    public String key() {
        return key;
    }
}
