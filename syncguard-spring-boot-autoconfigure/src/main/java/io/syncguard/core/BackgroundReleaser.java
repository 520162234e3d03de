package io.syncguard.core;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends releases that no caller waits for, and repeats each until it succeeds or can have no effect any more.
 *
 * <p>The thread {@code syncguard-release} sends those that are due in one statement, or one per {@value #CHUNK}, on a
 * connection for which callers do not compete.
 */
final class BackgroundReleaser implements AutoCloseable {

    private static final Log log = LogFactory.getLog(BackgroundReleaser.class);

    /** How many releases one statement sends at most. */
    static final int CHUNK = 500;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);

    /** The pauses after a busy answer are short: the transaction that locked the row may have ended. */
    private static final Backoff BUSY_PAUSES = Backoff.doubling(FIRST_PAUSE, Duration.ofMillis(200));

    private static final Backoff ERROR_PAUSES = Backoff.doubling(FIRST_PAUSE, Duration.ofSeconds(2));

    private final LockBackend backend;
    private final Time time;
    private final Map<String, Pending> pending = new ConcurrentHashMap<>();
    private final Alarm alarm;

    BackgroundReleaser(LockBackend backend, Time time) {
        this.backend = backend;
        this.time = time;
        this.alarm = new Alarm("syncguard-release", time, this::sendDue);
    }

    /** Releases a lease that its holder does not use any more. Repeats that for the ttl at most. */
    void release(Lease lease) {
        add(new Pending(lease.lockId(), lease, Duration.ZERO, lease.confirmed().ttl()));
    }

    /** Releases a lease of another process, whose row was locked. Repeats that for this duration at most. */
    void release(String lockId, Duration patience) {
        add(new Pending(lockId, null, Duration.ZERO, patience));
    }

    /** Does the same for leases that were granted together and that nobody will use, in one statement. */
    void releaseAll(List<AcquireRequest> granted) {
        granted.forEach(
                each -> pending.put(each.lockId(), new Pending(each.lockId(), null, Duration.ZERO, each.ttl())));
        alarm.ringAt(time.nanoTime());
    }

    /**
     * Releases what a request in doubt may have acquired. No answer is final before the end of the in-doubt period: the
     * request may still take effect, even after a lease was released that the caller was handed meanwhile. The period
     * begins again after each error, because a server that stood still executes the request only when it goes on.
     * Repeats that until such a lease has lapsed, and the queue entry that the request may leave.
     */
    void releaseInDoubt(String lockId, Duration ttl) {
        Duration period = backend.inDoubtPeriod();
        Duration longest = ttl.compareTo(backend.waiterTtl()) > 0 ? ttl : backend.waiterTtl();
        add(new Pending(lockId, null, period, longest.plus(period)));
    }

    /** Releases what the lock id of a lease that has ended may still be granted. */
    void releaseLate(Lease ended) {
        if (ended.isInDoubt()) {
            releaseInDoubt(ended.lockId(), ended.confirmed().ttl());
        }
    }

    /** Deletes a queue entry. */
    void leaveQueue(String lockId) {
        add(new Pending(lockId, null, Duration.ZERO, backend.waiterTtl()));
    }

    /**
     * Sends all remaining releases once more, on the caller's thread: first together, then one by one those that
     * failed. No statement begins after the in-doubt period, because each takes a network timeout while the server is
     * away. A body that stops its own engine is interrupted by its loss.
     */
    void flush() {
        long deadline = time.nanoTime() + backend.inDoubtPeriod().toNanos();
        Shielded.uninterrupted(() -> send(List.copyOf(pending.values()), deadline));
        pending.values().forEach(each -> Shielded.uninterrupted(() -> send(List.of(each), deadline)));
    }

    @Override
    public void close() {
        alarm.close();
    }

    private void add(Pending release) {
        pending.put(release.lockId, release);
        alarm.ringAt(release.dueAt);
    }

    private long sendDue() {
        long now = time.nanoTime();
        send(pending.values().stream().filter(each -> now >= each.dueAt).toList(), Time.NEVER);
        return pending.values().stream().mapToLong(each -> each.dueAt).min().orElse(Time.NEVER);
    }

    /** No statement begins after the deadline. */
    private void send(List<Pending> due, long deadline) {
        List<Pending> together = new ArrayList<>();
        for (Pending each : due) {
            if (each.isOver()) {
                pending.remove(each.lockId, each);
            } else if (each.lease == null || !each.lease.holdTime().isEarly()) {
                together.add(each);
            } else if (time.nanoTime() < deadline) {
                Duration hold = each.lease.holdTime().atLeast();
                send(List.of(each), () -> List.of(backend.releaseAfter(each.lockId, hold)));
            }
        }
        for (int from = 0; from < together.size() && time.nanoTime() < deadline; from += CHUNK) {
            List<Pending> chunk = together.subList(from, Math.min(together.size(), from + CHUNK));
            List<String> lockIds = chunk.stream().map(each -> each.lockId).toList();
            send(chunk, () -> backend.releaseAll(lockIds));
        }
    }

    private void send(List<Pending> releases, Supplier<List<ReleaseResult>> statement) {
        releases.forEach(each -> each.tries++);
        long sentAt = time.nanoTime();
        try {
            List<ReleaseResult> results = statement.get();
            for (int i = 0; i < releases.size(); i++) {
                Pending release = releases.get(i);
                if (release.isEndedBy(results.get(i), sentAt)) {
                    pending.remove(release.lockId, release);
                    if (release.lease != null) {
                        releaseLate(release.lease);
                    }
                } else {
                    release.pause(BUSY_PAUSES);
                }
            }
        } catch (Throwable ex) {
            // Also after an Error, such as a lack of memory or threads, these are sent again.
            releases.forEach(Pending::failed);
            Shielded.log(() -> log.debug(releases.size() + " lock(s) could still not be released", ex));
        }
    }

    /**
     * A release that has not succeeded yet. The background thread and the thread that stops the engine write its
     * fields. A release that both send does no harm.
     */
    private final class Pending {

        private final String lockId;

        /** Its {@code holdAtLeast} may not be over. Null for a lock id alone. */
        private final @Nullable Lease lease;

        /** How long the lease or the queue entry may still appear at the server. */
        private final Duration inDoubt;

        private final long givesUpAt;
        private volatile long settlesAt;
        private volatile long dueAt = time.nanoTime();
        private volatile int tries;

        Pending(String lockId, @Nullable Lease lease, Duration inDoubt, Duration patience) {
            this.lockId = lockId;
            this.lease = lease;
            this.inDoubt = inDoubt;
            this.settlesAt = dueAt + inDoubt.toNanos();
            this.givesUpAt = dueAt + patience.toNanos();
        }

        /** Each is sent at least once, even if its time ended while it waited. */
        boolean isOver() {
            return tries > 0 && time.nanoTime() >= givesUpAt;
        }

        boolean isEndedBy(ReleaseResult result, long sentAt) {
            return switch (result) {
                case BUSY -> false;
                case RELEASED, LEFT, EXPIRED, NOT_FOUND -> sentAt >= settlesAt;
            };
        }

        void failed() {
            settlesAt = time.nanoTime() + inDoubt.toNanos();
            pause(ERROR_PAUSES);
        }

        void pause(Backoff pauses) {
            dueAt = time.nanoTime() + pauses.pauseNanos(tries);
        }
    }
}
