package io.syncguard;

import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The lease ended before its holder released it. Another holder may have worked at the same time: check the last
 * writes.
 *
 * <p>Thrown when the body has ended, or instead of starting one. If the body failed because the loss interrupted it,
 * its exception is the {@link #getCause() cause}. If the body failed by itself, its own exception is thrown, with this
 * one suppressed. The errors of the last extensions that failed are suppressed in it.
 */
public class LockLostException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;

    private final LockReason reason;

    /** Makes one of a lease that lapsed, such as for a mock in a test. */
    public LockLostException(String key, String message) {
        this(key, LockReason.EXPIRED, message, null);
    }

    /** @param cause what the body threw when the loss interrupted it */
    public LockLostException(String key, LockReason reason, String message, @Nullable Throwable cause) {
        super(LockErrorCode.LOST, message, cause);
        this.key = key;
        this.reason = reason;
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
                .filter(each -> Arrays.stream(failure.getSuppressed()).noneMatch(known -> known == each))
                .forEach(failure::addSuppressed);
    }

    /**
     * Returns the same loss with another message, and with what is suppressed in this one.
     *
     * @param cause what the body threw when the loss interrupted it
     */
    public LockLostException as(String message, @Nullable Throwable cause) {
        LockLostException same = new LockLostException(key, reason, message, cause);
        Arrays.stream(getSuppressed()).filter(each -> each != cause).forEach(same::addSuppressed);
        return same;
    }

    /** The key whose lease was lost. */
    public String key() {
        return key;
    }

    /** Why it was lost, as in {@link LockListener#lost}. {@link LockReason#RELEASED} if the holder released it. */
    public LockReason reason() {
        return reason;
    }
}
