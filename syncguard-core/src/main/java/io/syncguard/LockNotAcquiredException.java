package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else held the key, or was there first, until the wait time was over. A normal outcome of contention, not a
 * fault.
 *
 * <p>It names the holder that the server answered last. Do not decide by it: the holder may have changed.
 */
public class LockNotAcquiredException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;
    private final @Nullable String owner;
    private final @Nullable Instant heldSince;
    private final Duration waited;

    /** Makes one without a holder, for tests. */
    public LockNotAcquiredException(String key, String message) {
        this(key, null, null, Duration.ZERO, message);
    }

    /**
     * @param owner the label of the holder; {@code null} if it is not known
     * @param heldSince when the holder got the key, by the server's clock; {@code null} if it is not known
     * @param waited how long the caller waited
     */
    public LockNotAcquiredException(
            String key, @Nullable String owner, @Nullable Instant heldSince, Duration waited, String message) {
        super(LockErrorCode.ACQUISITION_TIMEOUT, message);
        this.key = key;
        this.owner = owner;
        this.heldSince = heldSince;
        this.waited = waited;
    }

    /** The key that is held by somebody else. */
    public String key() {
        return key;
    }

    /**
     * The label of the holder: by default the application, the process and the host. If several share the key, it is
     * that of the one whose lease ends last. {@code null} if the holder has no label, and if nobody holds the key but
     * others wait in front.
     */
    public @Nullable String owner() {
        return owner;
    }

    /** When the holder was granted the key, on the server's clock; {@code null} if others only wait in front. */
    public @Nullable Instant heldSince() {
        return heldSince;
    }

    /** How long the caller waited for this key. */
    public Duration waited() {
        return waited;
    }
}
