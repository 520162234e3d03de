package io.syncguard.core;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends releases that no caller waits for, and repeats each until it succeeds or can have no effect any more.
 *
 * <p>The thread {@code syncguard-release} sends those that are due in one statement for each server, or a few if there
 * are many, on connections for which callers do not compete. The releases that were sent least often go first, because
 * an earlier request for the others may have taken effect.
 */
final class BackgroundReleaser implements AutoCloseable {

    private static final Log log = LogFactory.getLog(BackgroundReleaser.class);

    /** By how much each try makes a release less urgent, one minute. */
    private static final long TRY_NANOS = Duration.ofMinutes(1).toNanos();

    /** By how much {@code holdAtLeast} makes a release less urgent, an hour: the key stays locked for a time anyway. */
    private static final long EARLY_NANOS = Duration.ofHours(1).toNanos();

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);

    /** The pauses after a busy answer are short: the transaction that locked the row may have ended. */
    private static final Backoff BUSY_PAUSES = Backoff.doubling(FIRST_PAUSE, Duration.ofMillis(200));

    private static final Backoff ERROR_PAUSES = Backoff.doubling(FIRST_PAUSE, Duration.ofSeconds(2));

    private final LockBackend backend;
    private final WaiterRegistry waiters;
    private final Time time;
    private final Map<String, Pending> pending = new ConcurrentHashMap<>();
    private final DueRequests<Pending> due;
    private final Alarm alarm;

    /** Set before the remaining releases are looked at, so that none is missed. */
    private volatile boolean flushed;

    BackgroundReleaser(LockBackend backend, WaiterRegistry waiters, Time time) {
        this.backend = backend;
        this.waiters = waiters;
        this.time = time;
        this.due = new DueRequests<>("syncguard-release", new Releases(), time, this::ringAt);
        this.alarm = new Alarm("syncguard-release", time, due::run);
    }

    /** Releases a lease that its holder does not use any more. Repeats that for the ttl at most. */
    void release(Lease lease) {
        add(new Pending(
                lease.keyedLockId(), lease, Duration.ZERO, lease.confirmed().ttl()));
    }

    /** Releases a lease that has no handle. Repeats that for this duration at most. */
    void release(KeyedLockId id, Duration patience) {
        add(new Pending(id, null, Duration.ZERO, patience));
    }

    /** Releases leases that were granted together and that nobody will use, in one statement; each for its ttl. */
    void release(List<AcquireRequest> granted) {
        granted.forEach(each -> put(new Pending(
                each.keyedLockId(), null, Duration.ZERO, each.options().ttl())));
        due.schedule(time.nanoTime());
    }

    /**
     * Releases what a request in doubt may have acquired. No answer is final before the end of the in-doubt period: the
     * request may still take effect, even after a lease was released that the caller was handed meanwhile. The period
     * begins again after each error, because a server that stood still executes the request only when it goes on.
     * Repeats that until such a lease has lapsed, and the queue entry that the request may leave.
     */
    void releaseInDoubt(KeyedLockId id, Duration ttl) {
        Duration period = backend.info().inDoubtPeriod();
        Duration longest = ttl.compareTo(backend.info().waiterTtl()) > 0
                ? ttl
                : backend.info().waiterTtl();
        add(new Pending(id, null, period, longest.plus(period)));
    }

    /** Releases the grant that the lock id of an ended lease may still receive. */
    void releaseInDoubt(Lease ended) {
        if (ended.isInDoubt()) {
            releaseInDoubt(ended.keyedLockId(), ended.confirmed().ttl());
        }
    }

    /** Deletes a queue entry. */
    void release(KeyedLockId id) {
        add(new Pending(id, null, Duration.ZERO, backend.info().waiterTtl()));
    }

    /** Lets the background send releases until the next {@link #flush}. */
    void start() {
        flushed = false;
    }

    /**
     * Sends all remaining releases once more, on the caller's thread: first together, then one by one those that
     * failed. No statement begins after the in-doubt period, because each takes a network timeout while the server is
     * away. No request of the background is under way afterwards: a store may end its executor then. A body that
     * stops its own engine is interrupted by its loss.
     */
    void flush() {
        due.pause();
        flushed = true;
        try {
            flush(each -> true);
            Shielded.uninterrupted(due::awaitAnswers);
        } finally {
            due.resume();
        }
    }

    /** Sends the releases that were added after {@link #flush}, and waits for these only: the others may be many. */
    void flushLate() {
        if (flushed) {
            flush(each -> each.late);
        }
    }

    private void flush(Predicate<Pending> which) {
        long deadline = time.nanoTime() + backend.info().inDoubtPeriod().toNanos();
        Shielded.uninterrupted(() -> sendAll(remaining(which), deadline));
        remaining(which).forEach(each -> Shielded.uninterrupted(() -> sendAll(List.of(each), deadline)));
    }

    private List<Pending> remaining(Predicate<Pending> which) {
        return pending.values().stream().filter(which).toList();
    }

    @Override
    public void close() {
        alarm.close();
        due.close();
    }

    private void ringAt(long nanoTime) {
        alarm.ringAt(nanoTime);
    }

    private void add(Pending release) {
        put(release);
        due.schedule(release.dueAt);
    }

    private void put(Pending release) {
        pending.put(release.id.lockId(), release);
        // Read after the put: a flush that began before would have missed it.
        release.late = flushed;
    }

    private int serverOf(Pending release) {
        return backend.serverOf(release.id.lockId());
    }

    /** Waits for the answers. No statement begins after the deadline. */
    private void sendAll(List<Pending> releases, long deadline) {
        List<Runnable> answers = new ArrayList<>();
        for (List<Pending> ofServer :
                releases.stream().collect(Collectors.groupingBy(this::serverOf)).values()) {
            for (List<Pending> part : parts(ofServer)) {
                long sentAt = time.nanoTime();
                if (sentAt < deadline) {
                    CompletableFuture<List<ReleaseResult>> answer = due.send(request(part));
                    answers.add(() ->
                            DueRequests.await(answer, (results, failure) -> ended(part, sentAt, results, failure)));
                }
            }
        }
        answers.forEach(Runnable::run);
    }

    /**
     * What one statement releases. A release whose {@code holdAtLeast} is not over needs one of its own, at the end.
     */
    private static List<List<Pending>> parts(List<Pending> releases) {
        List<Pending> together = new ArrayList<>();
        List<List<Pending>> alone = new ArrayList<>();
        for (Pending each : releases) {
            if (each.isEarly()) {
                alone.add(List.of(each));
            } else {
                together.add(each);
            }
        }
        List<List<Pending>> parts = new ArrayList<>();
        for (int from = 0; from < together.size(); from += DueRequests.CHUNK) {
            parts.add(together.subList(from, Math.min(together.size(), from + DueRequests.CHUNK)));
        }
        parts.addAll(alone);
        return parts;
    }

    private Supplier<CompletionStage<List<ReleaseResult>>> request(List<Pending> part) {
        part.forEach(each -> each.tries++);
        List<ReleaseRequest> requests = part.stream().map(Pending::request).toList();
        return () -> backend.release(requests);
    }

    private void ended(
            List<Pending> releases, long sentAt, @Nullable List<ReleaseResult> results, @Nullable Throwable failure) {
        if (results == null) {
            // Also after an Error, such as a lack of memory or threads, these are sent again.
            releases.forEach(Pending::failed);
            Shielded.log(() -> log.debug(releases.size() + " lock(s) could still not be released", failure));
            return;
        }
        for (int i = 0; i < releases.size(); i++) {
            Pending release = releases.get(i);
            if (release.isEndedBy(results.get(i), sentAt)) {
                pending.remove(release.id.lockId(), release);
                if (release.lease != null) {
                    releaseInDoubt(release.lease);
                    if (results.get(i).outcome() == Outcome.NOT_FOUND) {
                        // The release of its holder, whose answer was lost, may have come just before.
                        waiters.lookAtOnce(release.lease.key());
                    }
                }
            } else {
                release.pause(BUSY_PAUSES);
            }
        }
    }

    private final class Releases implements DueRequests.Work<Pending> {

        @Override
        public Stream<Pending> all() {
            pending.values().removeIf(Pending::isOver);
            return pending.values().stream();
        }

        @Override
        public int serverOf(Pending release) {
            return BackgroundReleaser.this.serverOf(release);
        }

        @Override
        public long dueAt(Pending release) {
            return isPending(release) ? release.dueAt : Time.NEVER;
        }

        @Override
        public boolean isDue(Pending release, long now) {
            return release.dueAt <= now && isPending(release);
        }

        private boolean isPending(Pending release) {
            return pending.get(release.id.lockId()) == release;
        }

        /** The lease has lapsed then. A release that was sent before may have taken effect. */
        @Override
        public long endsAt(Pending release) {
            return release.givesUpAt + release.tries * TRY_NANOS + (release.isEarly() ? EARLY_NANOS : 0);
        }

        @Override
        public void send(int server, List<Pending> releases) {
            List<Pending> part = parts(releases).get(0);
            long sentAt = time.nanoTime();
            // For the other parts.
            due.schedule(sentAt);
            due.send(server, part, request(part), (results, failure) -> ended(part, sentAt, results, failure));
        }
    }

    /**
     * A release that has not succeeded yet. The background thread and the thread that stops the engine write its
     * fields. A release that both send does no harm.
     */
    private final class Pending {

        private final KeyedLockId id;

        /** Its {@code holdAtLeast} may not be over. Null for a lock id without a handle. */
        private final @Nullable Lease lease;

        /** How long the lease or the queue entry may still appear at the server. */
        private final Duration inDoubt;

        private final long givesUpAt;
        private volatile long settlesAt;
        private volatile long dueAt = time.nanoTime();
        private volatile int tries;

        /** Whether {@link #flush} may have missed it. */
        private volatile boolean late;

        Pending(KeyedLockId id, @Nullable Lease lease, Duration inDoubt, Duration patience) {
            this.id = id;
            this.lease = lease;
            this.inDoubt = inDoubt;
            this.settlesAt = dueAt + inDoubt.toNanos();
            this.givesUpAt = dueAt + patience.toNanos();
        }

        /** Each is sent at least once, even if its time ended while it waited. */
        boolean isOver() {
            return tries > 0 && time.nanoTime() >= givesUpAt;
        }

        boolean isEarly() {
            return lease != null && lease.holdTime().isEarly();
        }

        ReleaseRequest request() {
            return lease != null && isEarly()
                    ? ReleaseRequest.heldFor(id, lease.holdTime().atLeast())
                    : ReleaseRequest.waking(id);
        }

        boolean isEndedBy(ReleaseResult result, long sentAt) {
            return switch (result.outcome()) {
                case BUSY, UNDECIDED -> false;
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
