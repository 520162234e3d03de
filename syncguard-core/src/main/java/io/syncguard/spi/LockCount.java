package io.syncguard.spi;

import io.syncguard.LockInfo;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;

/** Counts locks one by one, for stores that cannot. For one thread. */
public final class LockCount {

    private final LockSelection queues = new LockSelection(LockSummary.QUEUES);
    private long locked;
    private long leases;
    private long waitedFor;
    private long waiters;
    private Duration longestHold = Duration.ZERO;
    private Duration longestWait = Duration.ZERO;

    /** Counts a lock, which must not be added twice. */
    public void add(LockStatus lock) {
        locked += lock.holders().isEmpty() ? 0 : 1;
        leases += lock.holders().size();
        waitedFor += lock.waiters() > 0 ? 1 : 0;
        waiters += lock.waiters();
        longestHold = longest(lock, longestHold, lock.holders().stream().map(LockInfo::acquiredAt));
        longestWait = longest(lock, longestWait, lock.queue().stream().map(LockStatus.Waiter::since));
        queues.offer(lock);
    }

    /** What was counted so far. */
    public LockSummary summary() {
        return new LockSummary(
                locked,
                leases,
                waitedFor,
                waiters,
                longestHold,
                longestWait,
                queues.page().locks());
    }

    private static Duration longest(LockStatus lock, Duration known, Stream<Instant> begins) {
        return begins.map(begin -> Duration.between(begin, lock.at()))
                .reduce(known, (one, other) -> one.compareTo(other) > 0 ? one : other);
    }
}
