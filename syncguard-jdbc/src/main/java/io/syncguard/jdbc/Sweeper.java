package io.syncguard.jdbc;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Deletes what lapsed leases and dead waiters left behind. The thread {@code syncguard-sweeper} goes through the tables
 * once per interval, and sweeps the keys that {@link #sweepSoon} names.
 *
 * <p>Thread-safe.
 */
public final class Sweeper implements AutoCloseable {

    private static final Log log = LogFactory.getLog(Sweeper.class);

    /**
     * Maximum number of leases that one statement deletes. An acquire request for one of their keys waits for the
     * commit.
     */
    public static final int BATCH = 200;

    private final Sweeps sweeps;
    private final long interval;
    private final Time time;

    /** Keys to sweep before the next sweep of the tables. */
    private final Set<String> soon = ConcurrentHashMap.newKeySet();

    /** When the tables are swept next. Only the sweeping thread reads and writes it. */
    private long nextSweep;

    private volatile boolean paused;
    private volatile boolean closed;

    private final Alarm alarm;

    /** What a store deletes. One thread calls it. */
    public interface Sweeps {

        /** Deletes what is left of these keys, at most {@value #BATCH}. */
        void sweep(List<String> keys);

        /** Goes through the tables once, in batches of {@value #BATCH}, until its end or until the process stops. */
        void sweepTables(BooleanSupplier stopped);
    }

    /** @param interval zero for no sweeps of the tables */
    public Sweeper(Sweeps sweeps, Duration interval, Time time) {
        this.sweeps = sweeps;
        this.interval = interval.toNanos();
        this.time = time;
        this.nextSweep = interval.isZero() ? Time.NEVER : firstAfter(interval, time);
        this.alarm = new Alarm("syncguard-sweeper", time, this::run);
        alarm.ringAt(nextSweep);
    }

    /** The first time of what happens once per interval. Instances that start together do not sweep together. */
    public static long firstAfter(Duration interval, Time time) {
        return time.nanoTime() + ThreadLocalRandom.current().nextLong(interval.toNanos());
    }

    /** Schedules the sweep of a key whose lease a caller found lapsed. Does no I/O. */
    public void sweepSoon(String key) {
        if (soon.size() < BATCH && soon.add(key)) {
            alarm.ringAt(time.nanoTime());
        }
    }

    /** Sends nothing until {@link #resume}. */
    public void pause() {
        paused = true;
    }

    public void resume() {
        paused = false;
    }

    /** Ends the thread; a statement that is under way fails when its connection closes. */
    @Override
    public void close() {
        closed = true;
        alarm.close();
    }

    private long run() {
        try {
            if (!paused) {
                sweepOutOfTurn();
            }
            if (time.nanoTime() >= nextSweep) {
                nextSweep = time.nanoTime() + interval;
                if (!paused) {
                    sweeps.sweepTables(this::isStopped);
                }
            }
        } catch (LockBackendException ex) {
            if (!isStopped()) {
                log.warn("Lapsed locks could not be swept; they only take up space", ex);
            }
        }
        return nextSweep;
    }

    private void sweepOutOfTurn() {
        List<String> keys = List.copyOf(soon);
        if (!keys.isEmpty()) {
            // Removed first: a key that is added again from now on is swept again.
            soon.removeAll(keys);
            sweeps.sweep(keys);
        }
    }

    private boolean isStopped() {
        return paused || closed;
    }
}
