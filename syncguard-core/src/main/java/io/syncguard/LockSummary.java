package io.syncguard;

import java.time.Duration;
import java.util.List;

/**
 * All locks of a store in numbers, with those that are waited for longest. Not a guard: it may be over when the answer
 * arrives. Immutable. The keys are as they are: do not show them to everybody.
 *
 * @param locked how many keys have a live lease
 * @param leases how many live leases they have: a shared lock may have several
 * @param waitedFor how many keys have a queue
 * @param waiters how many wait for them
 * @param longestHold how long the oldest live lease is held; zero if there is none
 * @param longestWait how long somebody has waited at most; zero if nobody waits
 * @param queues the keys with a queue, the longest wait first: {@value #MAX_QUEUES} at most
 */
public record LockSummary(
        long locked,
        long leases,
        long waitedFor,
        long waiters,
        Duration longestHold,
        Duration longestWait,
        List<LockStatus> queues) {

    /** How many keys with a queue are shown. */
    public static final int MAX_QUEUES = 20;

    /** Finds the keys with a queue that are shown. */
    public static final LockQuery QUEUES =
            LockQuery.all().waitedFor().orderedBy(LockOrder.LONGEST_WAIT).limit(MAX_QUEUES);

    public LockSummary {
        queues = List.copyOf(queues);
    }
}
