package io.syncguard.spi;

import io.syncguard.Fence;
import io.syncguard.MessageText;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link AcquireRequest}.
 */
public sealed interface AcquireResult {

    /**
     * The key is granted.
     *
     * @param fence the number of the grant
     * @param acquiredAt the time of the grant, on the server's clock
     * @param expiresAt the end of the lease, on the server's clock
     */
    record Granted(Fence fence, Instant acquiredAt, Instant expiresAt) implements AcquireResult {}

    /**
     * Others hold the key or wait for it. The caller has no queue entry: an earlier one was deleted.
     *
     * @param timeLeft how long until the key may become free if nobody releases or extends it
     * @param holder who holds it; {@code null} where only waiters are in the way
     */
    record Refused(Duration timeLeft, @Nullable Holder holder) implements AcquireResult {}

    /**
     * Others hold the key or wait for it. The caller has a queue entry.
     *
     * @param nextLook how long until the next attempt is worthwhile if nothing wakes the caller
     * @param holder who holds it; {@code null} where only waiters are in the way
     */
    record Queued(Duration nextLook, @Nullable Holder holder) implements AcquireResult {}

    /**
     * The store has not decided this request, and nothing has happened to its key: another request of the same caller
     * was refused, or the store would have to wait for a locked row. The engine sends it again, alone.
     */
    record Undecided() implements AcquireResult {

        public static final Undecided UNDECIDED = new Undecided();
    }

    /**
     * Who holds a key that was not granted: among several readers, the one whose lease ends last.
     *
     * @param owner its label, which may be empty
     * @param since the time of its grant, on the server's clock
     * @param onlyHolder whether nobody else holds the key with it
     * @param lapsed whether its lease has lapsed, and a transaction that commits under it keeps the key from others
     */
    record Holder(String owner, Instant since, boolean onlyHolder, boolean lapsed) {

        public Holder {
            owner = MessageText.shortened(owner);
        }
    }
}
