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
import java.util.function.Predicate;
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
final class WaiterRegistry implements WakeUpListener, AutoCloseable {

    private static final Log log = LogFactory.getLog(WaiterRegistry.class);

    private final LockBackend backend;
    private final Backoff retryPauses;
    private final Time time;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentMap<Long, Waiter> waiters = new ConcurrentHashMap<>();
    private final Set<AcquireReport> queued = ConcurrentHashMap.newKeySet();
    private final ServerTurns<Waiter> turns;
    private final Alarm alarm;

    /** On the clock: when no lock is granted any more, so no caller waits longer. */
    private final AtomicLong endsAt = new AtomicLong(Time.NEVER);

    /** Whether a caller has ever waited. */
    private volatile boolean needed;

    WaiterRegistry(LockBackend backend, EngineSettings settings, Time time) {
        this.backend = backend;
        this.retryPauses =
                Backoff.doubling(settings.firstRetry(), settings.longestRetry()).withJitter();
        this.time = time;
        this.turns =
                new ServerTurns<>("syncguard-waiters", waiter -> backend.serverOf(waiter.lockId()), time, this::ring);
        this.alarm = new Alarm("syncguard-waiters", time, this::poll);
        backend.connect(this);
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

    /** Wakes all waiters at this time, also those that come until then. {@link Time#NEVER} takes that back. */
    void wakeAllAt(long nanoTime) {
        endsAt.set(nanoTime);
        alarm.ringAt(nanoTime);
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
        alarm.ringAt(now);
    }

    @Override
    public void close() {
        alarm.close();
        turns.close();
    }

    void remove(long number) {
        waiters.remove(number);
    }

    /** Schedules the next safety poll for this time at the latest. */
    void ringAt(long nanoTime) {
        alarm.ringAt(nanoTime);
    }

    boolean wakeUpsArrive() {
        return backend.isConnected();
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
        long longest = backend.waiterTtl().toNanos() / 3;
        return longest - ThreadLocalRandom.current().nextLong(longest / 4 + 1);
    }

    /** The pause before the next poll while wake-ups do not arrive, or before a failed request is repeated. */
    long retryPause(int before) {
        return retryPauses.pauseNanos(before + 1);
    }

    private void ring() {
        alarm.ringAt(time.nanoTime());
    }

    private long poll() {
        turns.settle();
        long now = time.nanoTime();
        wakeAllIfDue(now);
        if (nextPoll() <= now) {
            long waiterTtl = backend.waiterTtl().toNanos();
            turns.next(
                            waiters.values().stream().filter(waiter -> waiter.pollIfDue(now) != null),
                            (waiter, roundTrip) ->
                                    ServerTurns.urgency(waiter.confirmedAt() + waiterTtl - now, roundTrip))
                    .forEach((server, due) -> sendTo(server, due, now));
        }
        return Math.min(nextPoll(), endsAt.get());
    }

    /** A waiter is registered before its request looks whether locks are granted, so none is left out. */
    private void wakeAllIfDue(long now) {
        long due = endsAt.get();
        if (due <= now && endsAt.compareAndSet(due, Time.NEVER)) {
            waiters.values().forEach(Waiter::wake);
        }
    }

    private void sendTo(int server, List<Waiter> due, long now) {
        List<Waiter.Poll> polls = due.stream()
                .map(waiter -> waiter.pollIfDue(now))
                .filter(Objects::nonNull)
                .toList();
        if (polls.isEmpty()) {
            return;
        }
        List<KeyedLockId> ids =
                polls.stream().map(poll -> poll.waiter().keyedLockId()).toList();
        long sentAt = time.nanoTime();
        turns.send(
                server,
                polls.stream().map(Waiter.Poll::waiter).toList(),
                () -> backend.renewWaitersLater(ids),
                (answers, failure) -> ended(polls, sentAt, answers, failure));
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

    private long nextPoll() {
        return turns.nextAt(waiters.values().stream(), Waiter::pollAt);
    }
}
