package io.syncguard.core;

import io.syncguard.LockBackendException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this process who wait for a lock. Each has a place in the queue of its key and sleeps until it is woken.
 *
 * <p>The backend wakes those who can go on. What nobody tells, the thread {@code syncguard-waiters} finds out: that a lease is
 * over, that somebody in front has died, that a wake-up was lost. It asks for all who wait in one statement, or one per
 * {@value #CHUNK}, which keeps their places, too. While wake-ups do not arrive it asks more often.
 */
final class Waiters implements WakeUps, AutoCloseable {

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

    /** Makes a waiter known, so that it can be woken: before its claim is sent, and until it is closed. */
    Waiter add(Claim claim) {
        long number = numbers.incrementAndGet();
        Waiter waiter = new Waiter(number, claim.waitingAs(number));
        waiters.put(number, waiter);
        return waiter;
    }

    @Override
    public void wake(long number) {
        Waiter waiter = waiters.get(number);
        if (waiter != null) {
            waiter.wake();
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

    private long look() {
        long now = time.nanoTime();
        if (nextLook() <= now) {
            List<Look> due = waiters.values().stream()
                    .map(waiter -> waiter.lookIfDue(now))
                    .filter(Objects::nonNull)
                    .toList();
            for (int from = 0; from < due.size(); from += CHUNK) {
                send(due.subList(from, Math.min(due.size(), from + CHUNK)));
            }
        }
        return nextLook();
    }

    private void send(List<Look> looks) {
        List<String> lockIds =
                looks.stream().map(look -> look.waiter().claim().lockId()).toList();
        try {
            List<Duration> answers = backend.keepPlaces(lockIds);
            for (int i = 0; i < looks.size(); i++) {
                looks.get(i).waiter().looked(looks.get(i).sleep(), answers.get(i));
            }
        } catch (LockBackendException ex) {
            looks.forEach(look -> look.waiter().fail(ex));
        }
    }

    private long nextLook() {
        long next = Time.NEVER;
        for (Waiter waiter : waiters.values()) {
            next = Math.min(next, waiter.lookAt);
        }
        return next;
    }

    /**
     * A waiter that is to be looked at.
     *
     * @param sleep the sleep for which the answer counts: one that began meanwhile knows better
     */
    private record Look(Waiter waiter, int sleep) {}

    /** One caller, from before its first claim until it waits no longer. */
    final class Waiter implements AutoCloseable {

        private final long number;
        private final Claim claim;
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();

        /** Guarded by the lock. Stays until the caller has seen it, who may be claiming just now. */
        private boolean woken;

        /** Guarded by the lock. */
        private @Nullable LockBackendException failure;

        /** Guarded by the lock: how often it was found that it has to sleep on. */
        private int pauses;

        /** Guarded by the lock: how often it has fallen asleep, or was to be looked at anew. */
        private int sleeps;

        /** When it is to be looked at, never while it is awake. Written under the lock. */
        private volatile long lookAt = Time.NEVER;

        /** Guarded by the lock: from when on it may be looked at together with others. */
        private long lookFrom = Time.NEVER;

        Waiter(long number, Claim claim) {
            this.number = number;
            this.claim = claim;
        }

        /** What the server is asked while there is time to wait. */
        Claim claim() {
            return claim;
        }

        /**
         * Sleeps until it is worth to claim again, or the deadline has come.
         *
         * @param nextLook when that is, as far as the server knew
         * @throws LockBackendException when the server cannot be asked
         */
        void sleep(Duration nextLook, long deadline) throws InterruptedException {
            lock.lock();
            try {
                sleeps++;
                pause(nextLook);
                for (long now = time.nanoTime(); !woken && failure == null && now < deadline; now = time.nanoTime()) {
                    time.await(changed, deadline - now);
                }
                woken = false;
                if (failure != null) {
                    throw failed(failure);
                }
            } finally {
                doNotLook();
                lock.unlock();
            }
        }

        @Override
        public void close() {
            waiters.remove(number);
        }

        private @Nullable Look lookIfDue(long now) {
            lock.lock();
            try {
                return lookFrom <= now ? new Look(this, sleeps) : null;
            } finally {
                lock.unlock();
            }
        }

        private void wake() {
            change(() -> woken = true);
        }

        private boolean wakeFromSleep() {
            lock.lock();
            try {
                boolean asleep = lookAt != Time.NEVER;
                wake();
                return asleep;
            } finally {
                lock.unlock();
            }
        }

        private void fail(LockBackendException ex) {
            change(() -> failure = ex);
        }

        /** An answer that is still on its way may be older than the reason to look, and does not count any more. */
        private void lookBy(long nanoTime) {
            change(() -> {
                if (lookAt == Time.NEVER) {
                    woken = true;
                } else {
                    sleeps++;
                    lookAt = nanoTime;
                    lookFrom = nanoTime;
                }
            });
        }

        private void looked(int sleep, Duration nextLook) {
            change(() -> {
                if (sleep != sleeps || lookAt == Time.NEVER) {
                    return;
                }
                if (nextLook.isZero()) {
                    woken = true;
                } else {
                    pause(nextLook);
                }
            });
        }

        private void change(Runnable change) {
            lock.lock();
            try {
                change.run();
                if (woken || failure != null) {
                    doNotLook();
                }
                changed.signal();
            } finally {
                lock.unlock();
            }
        }

        /** Who has been told what it has to do: its thread may take a while to run. */
        private void doNotLook() {
            lookAt = Time.NEVER;
            lookFrom = Time.NEVER;
        }

        private void pause(Duration nextLook) {
            // Places have to be kept in any case.
            long longest = backend.isConnected() ? safetyPause() : Math.min(backoff(), safetyPause());
            long pause = Math.min(nextLook.toNanos(), longest);
            long now = time.nanoTime();
            lookAt = now + pause;
            lookFrom = now + pause / 2;
            alarm.ringAt(lookAt);
        }

        /** A third of what a place lives: two more looks fit in before it is lost. Up to a quarter less, at random. */
        private long safetyPause() {
            long longest = backend.placeTtl().toNanos() / 3;
            return longest - ThreadLocalRandom.current().nextLong(longest / 4 + 1);
        }

        /** Half of it is random, so that processes that were refused together do not come back together. */
        private long backoff() {
            long longest = settings.longestRetry().toNanos();
            long first = settings.firstRetry().toNanos();
            int doublings = Math.min(pauses++, 20);
            // Compared the other way round, because the doubled one could overflow.
            long backoff = first > longest >> doublings ? longest : first << doublings;
            return backoff / 2 + ThreadLocalRandom.current().nextLong(backoff / 2 + 1);
        }

        private LockBackendException failed(LockBackendException ex) {
            return new LockBackendException(
                    ex.code(),
                    "Waiting for lock '" + claim.key() + "' came to an end. " + ex.getMessage(),
                    ex.getCause());
        }
    }
}
