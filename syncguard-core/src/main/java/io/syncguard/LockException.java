package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * Every error of this library. Its {@link #code()} says which kind; the subtypes are what people catch.
 *
 * <p>Messages name the key and the next step, and never a lock id. They are {@linkplain OneLine one line} each,
 * whatever the key contains.
 */
public class LockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final LockErrorCode code;

    private final boolean insideBody = RunningFrames.innermost() != null;

    public LockException(LockErrorCode code, String message) {
        this(code, message, null);
    }

    public LockException(LockErrorCode code, String message, @Nullable Throwable cause) {
        super(OneLine.of(message), cause);
        this.code = code;
    }

    /** The kind of the error, which decides whether another attempt may help. */
    public LockErrorCode code() {
        return code;
    }

    /** Whether the thread worked under a lock when this was thrown. Then a part of that work may be done. */
    public boolean isInsideBody() {
        return insideBody;
    }
}
