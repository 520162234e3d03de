package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.StoreProbe;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Probes the store on a thread of its own, at most once a second however often it is asked. While a probe is slow,
 * callers get what is known: a platform that asks for the health waits for a second only. Thread-safe.
 */
final class StoreHealth {

    private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    /** How long a caller waits, from the begin of the probe. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final LockBackend backend;
    private final StoreContact contact;
    private final Time time;
    private final ThreadFactory probers = DaemonThreadFactory.named("syncguard-health");
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();

    /** Guarded by the lock, like the fields below. */
    private boolean probing;

    private long beganAt;
    private long nextAt = Long.MIN_VALUE;

    /** Whether a probe has ended. */
    private boolean known;

    private @Nullable LockBackendException failure;

    StoreHealth(LockBackend backend, StoreContact contact, Time time) {
        this.backend = backend;
        this.contact = contact;
        this.time = time;
    }

    /** Begins a probe if one is due. Does not wait. */
    void begin() {
        lock.lock();
        try {
            if (!probing && time.nanoTime() >= nextAt) {
                probers.newThread(this::probe).start();
                probing = true;
                beganAt = time.nanoTime();
            }
        } finally {
            lock.unlock();
        }
    }

    /** @throws LockBackendException while the store grants no locks */
    void check() {
        begin();
        time.awaitUntil(() -> !probing, lock, ended, patience());
        lock.lock();
        try {
            LockBackendException found = probing ? presumed() : failure;
            if (found != null) {
                throw found;
            }
        } finally {
            lock.unlock();
        }
    }

    private Duration patience() {
        lock.lock();
        try {
            return probing ? PATIENCE.minusNanos(time.nanoTime() - beganAt) : Duration.ZERO;
        } finally {
            lock.unlock();
        }
    }

    /** The failure that callers get while the probe is under way; {@code null} if the store seems to work. */
    private @Nullable LockBackendException presumed() {
        if (Thread.currentThread().isInterrupted()) {
            return new LockBackendException(LockErrorCode.ABORTED, "Interrupted while the store was probed", null);
        }
        StoreOutage outage = contact.outage();
        if (failure != null || outage == null) {
            return failure != null || known
                    ? failure
                    : new LockBackendException(
                            LockErrorCode.NETWORK_TIMEOUT,
                            "The store has not answered yet, after " + PATIENCE.toMillis() + " ms",
                            null);
        }
        return new LockBackendException(outage.code(), outage.message(), null);
    }

    private void probe() {
        LockBackendException found = null;
        try {
            StoreProbe.run(backend);
        } catch (LockBackendException ex) {
            found = BackendFailure.shown(ex);
        } catch (Throwable ex) {
            found = BackendFailure.of("The probe failed", ex);
        }
        lock.lock();
        try {
            failure = found;
            known = true;
            // An abort says nothing about the store, so the next caller probes again.
            boolean aborted = found != null && found.code() == LockErrorCode.ABORTED;
            nextAt = aborted ? Long.MIN_VALUE : time.nanoTime() + PAUSE_NANOS;
            probing = false;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
