package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The waiters of this process. Each has a queue entry and sleeps until it is woken.
 *
 * <p>The backend wakes the waiters that can be granted their key. The thread {@code syncguard-waiters} detects what no
 * wake-up reports: a lapsed lease, a dead waiter in front, a lost wake-up. This safety poll is one statement for all
 * waiters of a server that are due, or a few if there are many, and renews their queue entries. While wake-ups do not
 * arrive, or after it has failed, it comes more often.
 */
final class WaiterRegistry implements WakeUpListener, DueRequests.Work<Waiter>, AutoCloseable {

    private static final Log log = LogFactory.getLog(WaiterRegistry.class);

    /** The pause after the first abort. Each further one is twice as long. */
    private static final long FIRST_ABORT_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    /**
     * The next abort of all waiters.
     *
     * @param at on the clock
     * @param pause after it
     */
    private record Abort(long at, long pause) {}

    private final LockBackend backend;
    private final BooleanSupplier wakeUps;
    private final Backoff retryPauses;
    private final Time time;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentMap<Long, Waiter> waiters = new ConcurrentHashMap<>();
    private final Set<AcquireReport> queued = ConcurrentHashMap.newKeySet();
    private final DueRequests<Waiter> polls;
    private final Alarm alarm;

    /** On the clock: when no lock is granted any more, so no caller waits longer. */
    private final AtomicLong endsAt = new AtomicLong(Time.NEVER);

    /** {@code null} unless the application has begun to stop. */
    private final AtomicReference<@Nullable Abort> nextAbort = new AtomicReference<>();

    /** Whether a caller has ever waited. */
    private volatile boolean needed;

    WaiterRegistry(LockBackend backend, EngineSettings settings, Time time) {
        this.backend = backend;
        this.retryPauses =
                Backoff.doubling(settings.firstRetry(), settings.longestRetry()).withJitter();
        this.time = time;
        this.polls = new DueRequests<>("syncguard-waiters", this, time, this::ringAt);
        this.alarm = new Alarm("syncguard-waiters", time, this::run);
        this.wakeUps = backend.connect(this);
    }

    /** A waiter for one acquisition, to be closed at its end. */
    Waiter newWaiter(AcquireRequest request) {
        return new Waiter(this, time, request);
    }

    /** Registers a waiter for wake-ups under a new number. */
    long add(Waiter waiter) {
        long number = numbers.incrementAndGet();
        waiters.put(number, waiter);
        return number;
    }

    @Override
    public void wake(long number) {
        Waiter waiter = waiters.get(number);
        if (waiter != null) {
            waiter.wake();
        }
    }

    @Override
    public void handOver(long number, AcquireResult.Granted grant) {
        Waiter waiter = waiters.get(number);
        if (waiter != null) {
            waiter.handOver(number, grant);
        }
    }

    int size() {
        return waiters.size();
    }

    /** Lists a caller who has a queue entry, for operators. */
    void queued(AcquireReport caller) {
        needed = true;
        queued.add(caller);
    }

    void waitEnded(AcquireReport caller) {
        queued.remove(caller);
    }

    /** Those that have a queue entry, in the order in which they got it. */
    List<AcquireReport> queued() {
        return queued.stream()
                .sorted(Comparator.comparingLong(AcquireReport::waitsSince))
                .toList();
    }

    /** Wakes all waiters. Returns the lock ids of those that slept. */
    List<KeyedLockId> wakeAll() {
        return waiters.values().stream()
                .filter(Waiter::wakeFromSleep)
                .map(Waiter::keyedLockId)
                .toList();
    }

    /** The lock ids of those that may have a queue entry, also while they do not sleep. */
    List<KeyedLockId> queuedIds() {
        return waiters.values().stream()
                .filter(Waiter::isQueued)
                .map(Waiter::keyedLockId)
                .toList();
    }

    /** Wakes all waiters at this time, also those that come until then. {@link Time#NEVER} takes that back. */
    void wakeAllAt(long nanoTime) {
        endsAt.set(nanoTime);
        alarm.ringAt(nanoTime);
    }

    /**
     * Aborts the waiters, those that come now and then, too. A component that has not stopped yet, such as a message
     * listener, may wait again and again: pauses that double abort it less than ten times within half a minute, so that
     * it does not give up its message.
     */
    void abortAll() {
        Abort first = new Abort(time.nanoTime(), FIRST_ABORT_PAUSE_NANOS);
        if (nextAbort.compareAndSet(null, first)) {
            abortIfDue(first.at());
            alarm.ringAt(first.at() + first.pause());
        }
    }

    /** Aborts no more waiters. */
    void endAborts() {
        nextAbort.set(null);
    }

    @Override
    public void wakeUpsMissed() {
        lookAtOnce(any -> true);
    }

    /** A hand-over of this key may have been lost with the answer to its release. */
    void lookAtOnce(String key) {
        lookAtOnce(waiter -> waiter.key().equals(key));
    }

    private void lookAtOnce(Predicate<Waiter> which) {
        long now = time.nanoTime();
        waiters.values().stream().filter(which).forEach(waiter -> waiter.pollBy(now));
        polls.schedule(now);
    }

    @Override
    public void close() {
        alarm.close();
        polls.close();
    }

    void remove(long number) {
        waiters.remove(number);
    }

    /** Schedules the next safety poll for this time at the latest. */
    void schedule(long nanoTime) {
        polls.schedule(nanoTime);
    }

    boolean wakeUpsArrive() {
        return wakeUps.getAsBoolean();
    }

    /** For operators: {@code null} before a caller waits for the first time. */
    @Nullable
    Boolean wakeUps() {
        boolean wereNeeded = needed;
        boolean arrive = wakeUpsArrive();
        return arrive || wereNeeded ? arrive : null;
    }

    /**
     * A third of the ttl of a queue entry, so that two more polls fit in before it lapses; up to a quarter less, at
     * random.
     */
    long safetyPollPause() {
        long longest = backend.info().waiterTtl().toNanos() / 3;
        return longest - ThreadLocalRandom.current().nextLong(longest / 4 + 1);
    }

    /** The pause before the next poll while wake-ups do not arrive, or before a failed request is repeated. */
    long retryPause(int before) {
        return retryPauses.pauseNanos(before + 1);
    }

    private void ringAt(long nanoTime) {
        alarm.ringAt(nanoTime);
    }

    private long run() {
        wakeAllIfDue(time.nanoTime());
        long abortsAt = abortIfDue(time.nanoTime());
        return Math.min(Math.min(polls.run(), endsAt.get()), abortsAt);
    }

    /** Returns when the next abort is due. */
    private long abortIfDue(long now) {
        Abort due = nextAbort.get();
        if (due == null || now < due.at()) {
            return due == null ? Time.NEVER : due.at();
        }
        Abort next = new Abort(now + due.pause(), 2 * due.pause());
        if (!nextAbort.compareAndSet(due, next)) {
            return Time.NEVER;
        }
        waiters.values().forEach(Waiter::abort);
        return next.at();
    }

    /** A waiter is registered before its request looks whether locks are granted, so none is left out. */
    private void wakeAllIfDue(long now) {
        long due = endsAt.get();
        if (due <= now && endsAt.compareAndSet(due, Time.NEVER)) {
            waiters.values().forEach(Waiter::wake);
        }
    }

    @Override
    public Stream<Waiter> all() {
        return waiters.values().stream();
    }

    @Override
    public int serverOf(Waiter waiter) {
        return backend.serverOf(waiter.lockId());
    }

    @Override
    public long dueAt(Waiter waiter) {
        return waiter.pollAt();
    }

    @Override
    public boolean isDue(Waiter waiter, long now) {
        return waiter.pollIfDue(now) != null;
    }

    /** When its queue entry lapses. */
    @Override
    public long endsAt(Waiter waiter) {
        return waiter.confirmedAt() + backend.info().waiterTtl().toNanos();
    }

    @Override
    public void send(int server, List<Waiter> due) {
        long sentAt = time.nanoTime();
        List<Waiter.Poll> sent = due.stream()
                .map(waiter -> waiter.pollIfDue(sentAt))
                .filter(Objects::nonNull)
                .toList();
        List<KeyedLockId> ids =
                sent.stream().map(poll -> poll.waiter().keyedLockId()).toList();
        if (!ids.isEmpty()) {
            polls.send(
                    server,
                    sent.stream().map(Waiter.Poll::waiter).toList(),
                    () -> backend.renew(ids),
                    (answers, failure) -> ended(sent, sentAt, answers, failure));
        }
    }

    private static void ended(
            List<Waiter.Poll> polls, long sentAt, @Nullable List<Duration> answers, @Nullable Throwable failure) {
        if (answers == null) {
            Shielded.log(() -> log.debug("The safety poll for " + polls.size() + " waiter(s) failed", failure));
            LockBackendException error = BackendFailure.of("The safety poll failed", Objects.requireNonNull(failure));
            polls.forEach(poll -> poll.waiter().pollFailed(poll.sleep(), error));
            return;
        }
        for (int i = 0; i < polls.size(); i++) {
            polls.get(i).waiter().polled(polls.get(i).sleep(), sentAt, answers.get(i));
        }
    }
}
