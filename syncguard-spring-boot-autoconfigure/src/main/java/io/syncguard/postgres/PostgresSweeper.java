package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.core.Alarm;
import io.syncguard.core.Time;
import java.sql.Array;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Deletes leases that lapsed more than two seconds ago, so that keys which are never used again leave nothing in the table of
 * the locks. Fence counters are never touched.
 *
 * <p>The thread {@code syncguard-sweeper} goes through the table once per interval, in batches of {@value #BATCH} leases, and
 * sweeps the keys that {@link #lapsed} names.
 */
final class PostgresSweeper implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PostgresSweeper.class);

    /** How many leases one statement deletes at most: whoever acquires one of these keys waits for it to commit. */
    static final int BATCH = 200;

    /** The clock is asked in a subquery, once and first, so that the index on expires_at_ms can be used. */
    private static final String SWEEP_LONGEST_LAPSED = """
            SELECT ${syncguard_locks}_sweep(ARRAY(
                SELECT key
                FROM ${syncguard_locks}
                WHERE expires_at_ms < (SELECT ${syncguard_locks}_now() - 2000)
                ORDER BY expires_at_ms
                LIMIT ?))
            """;

    private static final String SWEEP_KEYS = """
            SELECT ${syncguard_locks}_sweep(?)
            """;

    private final PostgresConnections connections;
    private final String sweepLongestLapsed;
    private final String sweepKeys;
    private final boolean sweepsWhatIsMet;
    private final long interval;
    private final Time time;

    /** The storage keys that were met, until they are swept. */
    private final Set<String> met = ConcurrentHashMap.newKeySet();

    /** When the table is swept next. Read and written by the sweeping thread only. */
    private long nextSweep;

    private volatile boolean closed;

    private final Alarm alarm;

    PostgresSweeper(PostgresConnections connections, PostgresSettings settings, Time time) {
        this.connections = connections;
        this.sweepLongestLapsed = settings.tables().fill(SWEEP_LONGEST_LAPSED);
        this.sweepKeys = settings.tables().fill(SWEEP_KEYS);
        this.sweepsWhatIsMet = settings.cleanupInIsLocked();
        this.interval = settings.cleanupInterval().toNanos();
        this.time = time;
        // Instances that start together do not sweep together.
        this.nextSweep = interval == 0
                ? Time.NEVER
                : time.nanoTime() + ThreadLocalRandom.current().nextLong(interval);
        this.alarm = new Alarm("syncguard-sweeper", time, this::sweep);
        alarm.ringAt(nextSweep);
    }

    /** Takes notice of a lease that has lapsed, as somebody has seen. Does no I/O. */
    void lapsed(String storageKey) {
        if (sweepsWhatIsMet && met.size() < BATCH && met.add(storageKey)) {
            alarm.ringAt(time.nanoTime());
        }
    }

    /** Ends the thread; a statement that is under way fails when its connection closes. */
    @Override
    public void close() {
        closed = true;
        alarm.close();
    }

    private long sweep() {
        try {
            sweepMet();
            if (time.nanoTime() >= nextSweep) {
                nextSweep = time.nanoTime() + interval;
                sweepTable();
            }
        } catch (LockBackendException ex) {
            if (!closed) {
                log.warn("Lapsed locks could not be swept, which does no harm but that they take up room", ex);
            }
        }
        return nextSweep;
    }

    private void sweepMet() {
        Object[] keys = met.toArray();
        if (keys.length == 0) {
            return;
        }
        // Forgotten first: one that is met again from now on is swept again.
        met.clear();
        connections.query(
                "sweeping lapsed locks",
                sweepKeys,
                (connection, statement) -> {
                    Array array = connection.createArrayOf("text", keys);
                    statement.setArray(1, array);
                },
                rows -> rows.next());
    }

    private void sweepTable() {
        int swept;
        do {
            swept = connections.query(
                    "sweeping lapsed locks",
                    sweepLongestLapsed,
                    (connection, statement) -> statement.setInt(1, BATCH),
                    rows -> rows.next() ? rows.getInt(1) : 0);
        } while (swept == BATCH && !closed);
    }
}
