package io.syncguard.postgres;

import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.Sweeper;
import java.sql.ResultSet;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Deletes leases that lapsed more than two tolerances ago, and queue entries of dead waiters. A key that is never used
 * again then leaves only its fence counter. A {@link PostgresCounterSweeper} deletes those.
 */
final class PostgresSweeps implements Sweeper.Sweeps {

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

    PostgresSweeps(PostgresConnections connections, PostgresSettings settings, Time time) {
        this.connections = connections;
        this.counters = new PostgresCounterSweeper(connections, settings, time);
        this.lapsed = settings.tables().fill(LAPSED);
        this.sweep = settings.tables().fill(SWEEP);
    }

    /** Goes page by page, so that skipped rows do not hide those behind them. */
    @Override
    public void sweepTables(BooleanSupplier stopped) {
        Lease last = new Lease("", Long.MIN_VALUE);
        List<Lease> batch;
        do {
            batch = lapsedAfter(last);
            if (!batch.isEmpty()) {
                sweep(batch.stream().map(Lease::key).toList());
                last = batch.get(batch.size() - 1);
            }
        } while (batch.size() == Sweeper.BATCH && !stopped.getAsBoolean());
        counters.sweepIfDue(stopped);
    }

    private List<Lease> lapsedAfter(Lease last) {
        return connections.query(
                "looking for lapsed locks",
                lapsed,
                (connection, statement) -> {
                    statement.setLong(1, last.expiresAtMillis());
                    statement.setString(2, last.key());
                    statement.setInt(3, Sweeper.BATCH);
                },
                rows -> PostgresRows.all(rows, row -> new Lease(row.getString(1), row.getLong(2))));
    }

    @Override
    public void sweep(List<String> keys) {
        connections.query(
                "sweeping lapsed locks",
                sweep,
                (connection, statement) -> statement.setArray(1, connection.createArrayOf("text", keys.toArray())),
                ResultSet::next);
    }

    private record Lease(String key, long expiresAtMillis) {}
}
