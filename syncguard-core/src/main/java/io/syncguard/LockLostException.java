package io.syncguard;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The lease ended before its holder released it. Another holder may have worked at the same time: check the last
 * writes.
 *
 * <p>Thrown when the body has ended, or instead of starting one. If the body failed because the loss interrupted it,
 * its exception is the {@link #getCause() cause}. If the body failed by itself, its own exception is thrown, with this
 * one suppressed.
 */
public class LockLostException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;

    /** Makes one without a cause, such as for a mock in a test. */
    public LockLostException(String key, String message) {
        this(key, message, null);
    }

    /** @param cause what the body threw when the loss interrupted it */
    public LockLostException(String key, String message, @Nullable Throwable cause) {
        super(LockErrorCode.LOST, message, cause);
        this.key = key;
    }

    /**
     * Adds what the end of a lock threw to the failure of its body, as suppressed. A loss that the body has thrown
     * itself is not added again: what was suppressed in it is.
     */
    public static void suppress(Throwable failure, Throwable atEnd) {
        boolean isSameLoss = failure instanceof LockLostException one
                && atEnd instanceof LockLostException other
                && one.key().equals(other.key());
        (isSameLoss ? Stream.of(atEnd.getSuppressed()) : Stream.of(atEnd))
                .filter(each -> each != failure)
                .forEach(failure::addSuppressed);
    }

    /** The key whose lease was lost. */
    public String key() {
        return key;
    }
}
