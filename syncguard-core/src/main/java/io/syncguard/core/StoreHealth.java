package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.StoreProbe;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Probes the store, at most once a second however often it is asked. Thread-safe. */
final class StoreHealth {

    private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    private final LockBackend backend;
    private final Time time;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock, like the field below. */
    private long nextAt = Long.MIN_VALUE;

    private @Nullable LockBackendException failure;

    StoreHealth(LockBackend backend, Time time) {
        this.backend = backend;
        this.time = time;
    }

    /** @throws LockBackendException while the store grants no locks */
    void check() {
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new LockBackendException(LockErrorCode.ABORTED, "Interrupted while the store was probed", ex);
        }
        try {
            if (time.nanoTime() >= nextAt) {
                failure = probe();
                nextAt = time.nanoTime() + PAUSE_NANOS;
            }
            if (failure != null) {
                throw failure;
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable LockBackendException probe() {
        try {
            StoreProbe.run(backend);
            return null;
        } catch (LockBackendException ex) {
            if (ex.code() == LockErrorCode.ABORTED) {
                // It says nothing about the store, so the next caller probes again.
                throw ex;
            }
            return BackendFailure.shown(ex);
        }
    }
}
