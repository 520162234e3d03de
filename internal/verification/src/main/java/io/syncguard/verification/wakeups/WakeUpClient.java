package io.syncguard.verification.wakeups;

import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** One thread that acquires and releases a lock repeatedly until it is ended. Its bodies are empty. */
final class WakeUpClient implements Runnable {

    /** The ttl of a shortened lease, long enough for the answer to arrive. */
    private static final Duration SHORTENED = Duration.ofMillis(200);

    /** The time between two shortened leases. Each of them takes the tolerance of a second to lapse. */
    private static final long BETWEEN_SHORTENINGS_NANOS = 1_500_000_000L;

    /** How long a lease is held before it is shortened. */
    private static final long HELD_NANOS = 10_000_000;

    private static final int MOST_PERMITS = 5;

    private final LockManager locks;
    private final WakeUpMeter meter;
    private final Interrupter interrupter;
    private final String key;
    private final boolean restless;
    private final boolean shortens;
    private final Random random;
    private long shortenedAt = System.nanoTime() - BETWEEN_SHORTENINGS_NANOS / 2;

    /** Written by another thread, read by the client. */
    private volatile boolean ended;

    WakeUpClient(LockManager locks, WakeUpMeter meter, Interrupter interrupter, Use use, Random random) {
        this.locks = locks;
        this.meter = meter;
        this.interrupter = interrupter;
        this.key = use.key();
        this.restless = use.restless();
        this.shortens = use.shortens();
        this.random = random;
    }

    /**
     * How the client uses its key.
     *
     * @param restless whether it sometimes gives up or is interrupted
     * @param shortens whether it sometimes lets a lease lapse early
     */
    record Use(String key, boolean restless, boolean shortens) {}

    /** Ends after the current work. */
    void end() {
        ended = true;
    }

    @Override
    public void run() {
        while (!ended) {
            if (!restless) {
                use(request());
            } else if (shortens && System.nanoTime() - shortenedAt > BETWEEN_SHORTENINGS_NANOS) {
                shorten();
                shortenedAt = System.nanoTime();
            } else {
                useRestlessly();
            }
        }
    }

    private void useRestlessly() {
        int what = random.nextInt(100);
        if (what < 20) {
            giveUp();
        } else if (what < 40) {
            beInterrupted();
        } else {
            use(request());
        }
    }

    private LockRequest request() {
        LockRequest request = LockRequest.of(key);
        // Writers and requests with permits accept a hand-over if they have a heartbeat.
        request = random.nextInt(3) == 0 ? request.noHeartbeat() : request;
        return sharing(request);
    }

    private LockRequest sharing(LockRequest request) {
        return switch (random.nextInt(6)) {
            case 0, 1 -> request.shared();
            case 2, 3 -> request.permits(1 + random.nextInt(MOST_PERMITS));
            default -> request;
        };
    }

    private void use(LockRequest request) {
        long began = System.nanoTime();
        try {
            locks.acquire(request).release();
        } catch (LockException ex) {
            meter.failed(ex);
        } finally {
            meter.waited(System.nanoTime() - began, !restless);
        }
    }

    private void giveUp() {
        try {
            locks.acquire(request().waitTime(Duration.ofMillis(1 << random.nextInt(8))))
                    .release();
        } catch (LockNotAcquiredException ex) {
            meter.gaveUp();
        }
    }

    private void beInterrupted() {
        Interrupter.Interrupt interrupt = interrupter.interruptAfter(random.nextInt(1_000 << random.nextInt(8)));
        try {
            locks.acquire(request()).release();
        } catch (LockException ex) {
            meter.interrupted();
        } finally {
            interrupt.end();
        }
    }

    /** Ends the lease early without a release, by an extension or by {@code holdAtLeast}. */
    private void shorten() {
        LockRequest request = sharing(LockRequest.of(key));
        try {
            if (random.nextBoolean()) {
                shorten(hold(request.noHeartbeat()));
            } else {
                hold(request.holdAtLeast(SHORTENED)).release();
            }
            meter.shortened();
        } catch (LockException ex) {
            meter.failed(ex);
        }
    }

    /** Holds the lock until others have queued, so that they expect the lease to last. */
    private LockHandle hold(LockRequest request) {
        LockHandle lock = locks.acquire(request);
        LockSupport.parkNanos(HELD_NANOS);
        return lock;
    }

    /** Shortens the lease. If that fails, releases it, because it would live for hours. */
    private static void shorten(LockHandle lock) {
        boolean shortened = false;
        try {
            shortened = lock.extend(SHORTENED);
        } finally {
            if (!shortened) {
                lock.release();
            }
        }
    }
}
