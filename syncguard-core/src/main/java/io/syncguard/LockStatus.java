package io.syncguard;

import java.time.Instant;
import java.util.List;

/**
 * Who holds a key and who waits for it, for operators and diagnostics. Not a guard: it may be over when the answer
 * arrives. All times are of the server's clock. Lock ids are hashed in it. Immutable.
 *
 * @param key the normalised key
 * @param at when the server looked
 * @param holders the live leases, in the order of their fences. The key stays taken for one second after a lease ends,
 *     so {@link LockInfo#expiresAt} may lie in the past
 * @param queue the first {@value #MAX_QUEUE} waiters, in the order of their arrival
 * @param waiters how many wait
 */
public record LockStatus(String key, Instant at, List<LockInfo> holders, List<Waiter> queue, int waiters) {

    /** How many waiters of a key are shown. */
    public static final int MAX_QUEUE = 100;

    public LockStatus {
        holders = List.copyOf(holders);
        queue = List.copyOf(queue);
    }

    /**
     * A queue entry.
     *
     * @param mode what the waiter asks for
     * @param permits with how many shared leases of the key it may be granted at most; 0 for no limit
     * @param owner the label of the process that waits
     * @param since the time of its arrival
     */
    public record Waiter(LockMode mode, int permits, String owner, Instant since) {

        public Waiter {
            owner = MessageText.shortened(owner);
        }
    }
}
