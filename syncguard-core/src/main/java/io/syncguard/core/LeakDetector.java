package io.syncguard.core;

import io.syncguard.LockLimits;
import io.syncguard.LockRequest;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Reports handles that were probably forgotten: held for longer than a threshold, while no body ran under them. Each is
 * reported once, by the thread {@code syncguard-leaks}, which runs only if there is a threshold. Thread-safe.
 *
 * <p>Elections hold their locks for as long as possible, so these are no leaks.
 */
final class LeakDetector implements AutoCloseable {

    private static final Log log = LogFactory.getLog(LeakDetector.class);

    private final long thresholdNanos;
    private final LeaseReports reports;
    private final Time time;
    private final ConcurrentMap<Lease, Watch> watches = new ConcurrentHashMap<>();

    /** {@code null} without a threshold. */
    private final @Nullable Alarm alarm;

    /** @param threshold zero turns it off */
    LeakDetector(Duration threshold, LeaseReports reports, Time time) {
        this.thresholdNanos = threshold.toNanos();
        this.reports = reports;
        this.time = time;
        this.alarm = threshold.isZero() ? null : new Alarm("syncguard-leaks", time, this::check);
    }

    /**
     * Watches a lease from its grant on. The running thread acquired it.
     *
     * @param wasUsed whether the holder has used its handle since it was asked last; one thread asks
     */
    void watch(Lease lease, BooleanSupplier wasUsed) {
        if (alarm != null && !isOfElection(lease.request())) {
            long dueAt = time.nanoTime() + thresholdNanos;
            watches.put(lease, new Watch(lease, wasUsed, dueAt));
            alarm.ringAt(dueAt);
        }
    }

    /** Elections name the lock as its key, and always give an owner, which annotations never do. */
    private static boolean isOfElection(LockRequest request) {
        return request.name().startsWith(LockLimits.ELECTION_PREFIX)
                && request.name().equals(request.key())
                && request.owner() != null;
    }

    /** The lease has ended. */
    void ended(Lease lease) {
        Watch watch = watches.remove(lease);
        if (watch != null && watch.reported && lease.phase() == Lease.Phase.RELEASED) {
            Shielded.log(() -> log.info("Lock '" + OneLine.of(lease.key()) + "', which was reported as forgotten, was"
                    + " released after " + lease.holdTime().passed().toMillis() + " ms"));
        }
    }

    @Override
    public void close() {
        if (alarm != null) {
            alarm.close();
        }
    }

    private long check() {
        long now = time.nanoTime();
        long next = Time.NEVER;
        for (Watch watch : watches.values()) {
            next = Math.min(next, watch.check(now));
        }
        return next;
    }

    private final class Watch {

        private final Lease lease;
        private final BooleanSupplier wasUsed;
        private final Exception acquired =
                new Exception("Acquired on the thread " + Thread.currentThread().getName());

        /** Used by the thread of the alarm alone, once the handle is watched. */
        private long dueAt;

        /** Written by the thread of the alarm, read by the one that releases. */
        private volatile boolean reported;

        Watch(Lease lease, BooleanSupplier wasUsed, long dueAt) {
            this.lease = lease;
            this.wasUsed = wasUsed;
            this.dueAt = dueAt;
        }

        /** Returns when to check again. */
        private long check(long now) {
            if (reported || now < dueAt) {
                return reported ? Time.NEVER : dueAt;
            }
            if (wasUsed.getAsBoolean()) {
                dueAt = now + thresholdNanos;
                return dueAt;
            }
            if (lease.isHeld()) {
                reported = true;
                report();
            }
            return Time.NEVER;
        }

        private void report() {
            Shielded.log(() -> log.warn(
                    "Lock '" + OneLine.of(lease.key()) + "' has been held for "
                            + lease.holdTime().passed().toMillis() + " ms, and no body runs under it: its"
                            + " handle may have been forgotten. The stack trace shows where it was acquired"
                            + LeaseReports.trace(lease),
                    acquired));
            reports.leaked(lease);
        }
    }
}
