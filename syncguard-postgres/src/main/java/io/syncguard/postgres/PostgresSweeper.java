package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import java.sql.ResultSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Deletes leases that lapsed more than two tolerances ago, and queue entries of dead waiters. A key that is never used
 * again then leaves only its fence counter. A {@link PostgresCounterSweeper} deletes those.
 *
 * <p>The thread {@code syncguard-sweeper} goes through the table once per interval, in batches of {@value #BATCH}
 * leases, and sweeps the keys that {@link #sweepSoon} names.
 */
final class PostgresSweeper implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PostgresSweeper.class);

    /**
     * Maximum number of leases that one statement deletes. An acquire request for one of their keys waits for the
     * commit.
     */
    static final int BATCH = 200;

    /**
     * The subquery reads the clock once, before the scan, so that the indexes on expires_at_ms can be used. The waiters
     * have no such index: each renewal of an entry would write to all indexes of the table. {@code key >= ''} is true
     * for all rows and makes the index on the key usable: a sequential scan, which is disabled, would have a cost of
     * 10000000000.
     */
    static final String LAPSED = """
            SELECT key, expires_at_ms FROM (
                SELECT key, expires_at_ms FROM ${syncguard_locks}
                UNION ALL SELECT key, expires_at_ms FROM ${syncguard_locks}_shared
                UNION ALL SELECT key, expires_at_ms FROM ${syncguard_locks}_waiters WHERE key >= ''
            ) AS "Lapsed"
            WHERE expires_at_ms < (SELECT ${syncguard_locks}_sweep_before())
                AND (expires_at_ms, key) > (?::BIGINT, ?::TEXT)
            ORDER BY expires_at_ms, key
            LIMIT ?
            """;

    private static final String SWEEP = """
            SELECT ${syncguard_locks}_sweep(?::TEXT[])
            """;

    private final PostgresConnections connections;
    private final PostgresCounterSweeper counters;
    private final String lapsed;
    private final String sweep;
    private final boolean sweepsOnIsLocked;
    private final long interval;
    private final Time time;

    /** Keys to sweep before the next sweep of the table. */
    private final Set<String> soon = ConcurrentHashMap.newKeySet();

    /** When the table is swept next. Only the sweeping thread reads and writes it. */
    private long nextSweep;

    private volatile boolean paused;
    private volatile boolean closed;

    private final Alarm alarm;

    PostgresSweeper(PostgresConnections connections, PostgresSettings settings, Time time) {
        this.connections = connections;
        this.counters = new PostgresCounterSweeper(connections, settings, time);
        this.lapsed = settings.tables().fill(LAPSED);
        this.sweep = settings.tables().fill(SWEEP);
        this.sweepsOnIsLocked = settings.cleanupInIsLocked();
        this.interval = settings.cleanupInterval().toNanos();
        this.time = time;
        // Instances that start together do not sweep together.
        this.nextSweep = interval == 0
                ? Time.NEVER
                : time.nanoTime() + ThreadLocalRandom.current().nextLong(interval);
        this.alarm = new Alarm("syncguard-sweeper", time, this::run);
        alarm.ringAt(nextSweep);
    }

    /** Schedules the sweep of a key whose lease a caller found lapsed. Does no I/O. */
    void sweepSoon(String key) {
        if (sweepsOnIsLocked && soon.size() < BATCH && soon.add(key)) {
            alarm.ringAt(time.nanoTime());
        }
    }

    /** Sends nothing until {@link #resume}. */
    void pause() {
        paused = true;
    }

    void resume() {
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
                    sweepTable();
                    counters.sweepIfDue(this::isStopped);
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
            sweep(keys);
        }
    }

    /** Goes through the table once, page by page, so that skipped rows do not hide those behind them. */
    private void sweepTable() {
        Lease last = new Lease("", Long.MIN_VALUE);
        List<Lease> batch;
        do {
            batch = lapsedAfter(last);
            if (!batch.isEmpty()) {
                sweep(batch.stream().map(Lease::key).toList());
                last = batch.get(batch.size() - 1);
            }
        } while (batch.size() == BATCH && !isStopped());
    }

    private boolean isStopped() {
        return paused || closed;
    }

    private List<Lease> lapsedAfter(Lease last) {
        return connections.query(
                "looking for lapsed locks",
                lapsed,
                (connection, statement) -> {
                    statement.setLong(1, last.expiresAtMillis());
                    statement.setString(2, last.key());
                    statement.setInt(3, BATCH);
                },
                rows -> PostgresRows.all(rows, row -> new Lease(row.getString(1), row.getLong(2))));
    }

    private void sweep(List<String> keys) {
        connections.query(
                "sweeping lapsed locks",
                sweep,
                (connection, statement) -> statement.setArray(1, connection.createArrayOf("text", keys.toArray())),
                ResultSet::next);
    }

    private record Lease(String key, long expiresAtMillis) {}
}
