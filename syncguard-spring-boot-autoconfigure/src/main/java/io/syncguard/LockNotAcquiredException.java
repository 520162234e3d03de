package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else held the key, or was there first, until the wait time was over. A normal outcome of contention, not a fault.
 *
 * <p>It says by whom, as the server knew it when it refused for the last time. That is for people: it may be over by now, so
 * decide nothing by it.
 */
public class LockNotAcquiredException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;
    private final @Nullable String owner;
    private final @Nullable Instant heldSince;
    private final Duration waited;

    /** One that does not know by whom, as a test may want it. */
    public LockNotAcquiredException(String key, String message) {
        this(key, null, null, Duration.ZERO, message);
    }

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
     * The label of who holds the key: by default the application, the process and the host. Of several who share it, the one whose
     * lease ends last. {@code null} where it has none, and where nobody is in the way but those who wait in front.
     */
    public @Nullable String owner() {
        return owner;
    }

    /** When that one was granted the key, on the server's clock; {@code null} where nobody holds it who is in the way. */
    public @Nullable Instant heldSince() {
        return heldSince;
    }

    /** How long the caller waited for this key. */
    public Duration waited() {
        return waited;
    }
}
