package io.syncguard.core;

import io.syncguard.LockBackendException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The callers of this process who wait for a lock. Each has a place in the queue of its key and sleeps until it is woken.
 *
 * <p>The backend wakes those who can go on. What nobody tells, the thread {@code syncguard-waiters} finds out: that a lease is
 * over, that somebody in front has died, that a wake-up was lost. It asks for all who wait in one statement, or one per
 * {@value #CHUNK}, which keeps their places, too. While wake-ups do not arrive it asks more often.
 */
final class Waiters implements WakeUps, AutoCloseable {

    private static final Log log = LogFactory.getLog(Waiters.class);

    /** How many places one statement keeps at most. */
    static final int CHUNK = 500;

    private final LockBackend backend;
    private final EngineSettings settings;
    private final Time time;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentMap<Long, Waiter> waiters = new ConcurrentHashMap<>();
    private final Alarm alarm;

    Waiters(LockBackend backend, EngineSettings settings, Time time) {
        this.backend = backend;
        this.settings = settings;
        this.time = time;
        this.alarm = new Alarm("syncguard-waiters", time, this::look);
        backend.connect(this);
    }

    /** A waiter for the caller who makes this claim. It has to be closed. */
    Waiter newWaiter(Claim claim) {
        return new Waiter(this, time, claim);
    }

    /** Makes a waiter known, so that it can be woken, by a number that nobody has had. */
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
    public void handOver(long number, Attempt.Grant grant) {
        Waiter waiter = waiters.get(number);
        if (waiter != null) {
            waiter.handOver(number, grant);
        }
    }

    /** Wakes everybody, to see that something has changed, and returns the claims of those who slept. */
    List<Claim> wakeAll() {
        return waiters.values().stream()
                .filter(Waiter::wakeFromSleep)
                .map(Waiter::claim)
                .toList();
    }

    @Override
    public void lookAtAll() {
        long now = time.nanoTime();
        waiters.values().forEach(waiter -> waiter.lookBy(now));
        alarm.ringAt(now);
    }

    @Override
    public void close() {
        alarm.close();
    }

    void remove(long number) {
        waiters.remove(number);
    }

    /** Has the waiters looked at no later than then. */
    void ringAt(long nanoTime) {
        alarm.ringAt(nanoTime);
    }

    boolean wakeUpsArrive() {
        return backend.isConnected();
    }

    /** A third of what a place lives: two more looks fit in before it is lost. Up to a quarter less, at random. */
    long safetyPause() {
        long longest = backend.placeTtl().toNanos() / 3;
        return longest - ThreadLocalRandom.current().nextLong(longest / 4 + 1);
    }

    /** Half of it is random, so that processes that were refused together do not come back together. */
    long backoff(int pauses) {
        long longest = settings.longestRetry().toNanos();
        long first = settings.firstRetry().toNanos();
        int doublings = Math.min(pauses, 20);
        // Compared the other way round, because the doubled one could overflow.
        long backoff = first > longest >> doublings ? longest : first << doublings;
        return backoff / 2 + ThreadLocalRandom.current().nextLong(backoff / 2 + 1);
    }

    private long look() {
        long now = time.nanoTime();
        if (nextLook() <= now) {
            List<Waiter.Look> due = waiters.values().stream()
                    .map(waiter -> waiter.lookIfDue(now))
                    .filter(Objects::nonNull)
                    .toList();
            for (int from = 0; from < due.size(); from += CHUNK) {
                send(due.subList(from, Math.min(due.size(), from + CHUNK)));
            }
        }
        return nextLook();
    }

    private void send(List<Waiter.Look> looks) {
        List<String> lockIds =
                looks.stream().map(look -> look.waiter().claim().lockId()).toList();
        long sentAt = time.nanoTime();
        try {
            List<Duration> answers = keepPlaces(lockIds);
            for (int i = 0; i < looks.size(); i++) {
                looks.get(i).waiter().looked(looks.get(i).sleep(), sentAt, answers.get(i));
            }
        } catch (RuntimeException | Error ex) {
            LockBackendException failure = BackendFailure.of("The look at the queue failed", ex);
            looks.forEach(look -> look.waiter().fail(failure));
        }
    }

    /** One broken connection does not end the wait of all: a look that failed is repeated once, on another connection. */
    private List<Duration> keepPlaces(List<String> lockIds) {
        try {
            return backend.keepPlaces(lockIds);
        } catch (RuntimeException | Error ex) {
            Shielded.log(() -> log.debug("A look at " + lockIds.size() + " waiter(s) failed and is repeated once", ex));
            return backend.keepPlaces(lockIds);
        }
    }

    private long nextLook() {
        long next = Time.NEVER;
        for (Waiter waiter : waiters.values()) {
            next = Math.min(next, waiter.lookAt());
        }
        return next;
    }
}
