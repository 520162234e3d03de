package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Checks at the start that each table keeps a row as it is written, changed and deleted, which a trigger or a
 * constraint of somebody else may prevent. Undoes what it wrote.
 *
 * @param connection in a transaction
 */
record PostgresRowProbe(Connection connection, PostgresScript script) {

    private static final String LEASE = """
            INSERT INTO %1$s (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
            VALUES ('%2$s', '%2$s', 60000, 1, '1', '%2$s', 'start');
            UPDATE %1$s SET expires_at_ms = 120000
            WHERE key = '%2$s' AND lock_id = '%2$s' AND expires_at_ms = 60000 AND acquired_at_ms = 1 AND fence = '1'
                AND user_key = '%2$s' AND owner = 'start';
            DELETE FROM %1$s WHERE lock_id = '%2$s' AND expires_at_ms = 120000;
            SET CONSTRAINTS ALL IMMEDIATE
            """;

    private static final String QUEUE_ENTRY = """
            INSERT INTO %1$s (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, channel, waiter,
                owner, secret, permits)
            VALUES ('%2$s', '%2$s', 1, false, 60000, 5000, true, 'start', 1, 'start', 'start', 1);
            UPDATE %1$s SET expires_at_ms = 120000
            WHERE lock_id = '%2$s' AND key = '%2$s' AND arrived_at_ms = 1 AND NOT shared AND expires_at_ms = 60000
                AND ttl_ms = 5000 AND hand_over AND channel = 'start' AND waiter = 1 AND owner = 'start'
                AND secret = 'start' AND permits = 1;
            DELETE FROM %1$s WHERE lock_id = '%2$s' AND expires_at_ms = 120000;
            SET CONSTRAINTS ALL IMMEDIATE
            """;

    private static final String COUNTER = """
            INSERT INTO %1$s (fence_key, fence) VALUES ('%2$s', 1);
            UPDATE %1$s SET fence = 2 WHERE fence_key = '%2$s' AND fence = 1;
            UPDATE %1$s SET fence = 3 WHERE fence_key = '%2$s' AND fence = 2;
            SET CONSTRAINTS ALL IMMEDIATE
            """;

    /** Only fences by the clock delete counters. */
    private static final String COUNTER_BY_THE_CLOCK =
            COUNTER.replaceFirst("UPDATE \\S+ SET fence = 3", "DELETE FROM %1\\$s");

    private static final String TRIGGERS = """
            SELECT pg_catalog.string_agg(tgname::pg_catalog.text, ', '::pg_catalog.text ORDER BY tgname)
            FROM pg_catalog.pg_trigger
            WHERE tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(?) AND NOT tgisinternal
            """;

    /** @throws LockSetupException if a table does not keep the row, which it names with its triggers */
    void check() throws SQLException {
        PostgresTables tables = script.tables();
        keeps(tables.locks(), LEASE);
        keeps(tables.shared(), LEASE);
        keeps(tables.waiters(), QUEUE_ENTRY);
        keeps(tables.fenceCounters(), script.fences() == FenceSource.CLOCK ? COUNTER_BY_THE_CLOCK : COUNTER);
    }

    private void keeps(String table, String changes) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SAVEPOINT syncguard_probe");
            SQLException error = null;
            boolean kept = false;
            try {
                statement.execute(changes.formatted(table, "syncguard:start:" + UUID.randomUUID()));
                kept = changesOneRowEach(statement);
            } catch (SQLException ex) {
                error = ex;
            }
            if (error != null && !isOfTheTable(error)) {
                throw error;
            }
            statement.execute("ROLLBACK TO SAVEPOINT syncguard_probe");
            if (!kept) {
                throw refusal(table, error);
            }
        }
    }

    /** Each of the three statements that change the row. */
    private static boolean changesOneRowEach(Statement statement) throws SQLException {
        for (int changed = 0; changed < 3; changed++) {
            if (statement.getUpdateCount() != 1) {
                return false;
            }
            statement.getMoreResults();
        }
        return true;
    }

    /** Whether the server refused what was written, and did not fail itself. */
    private static boolean isOfTheTable(SQLException error) {
        return error.getSQLState() != null && !error.getSQLState().matches("(08|25|40|53|55|57|58|XX).*");
    }

    private LockSetupException refusal(String table, @Nullable SQLException error) throws SQLException {
        return new LockSetupException(
                error == null ? LockErrorCode.INVALID_ARGUMENT : PostgresErrors.codeOf(error),
                "The table '" + table + "' does not keep a row as it is written"
                        + (error == null ? "" : ": " + PostgresWords.of(error)) + triggersOf(table),
                List.of(
                        "Drop the triggers, columns and constraints that somebody added",
                        "Let the function of a trigger return the row as it is, and give it its rights: SECURITY"
                                + " DEFINER"),
                error == null ? null : PostgresErrors.withoutDetail(error));
    }

    private String triggersOf(String table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TRIGGERS)) {
            statement.setString(1, table);
            try (ResultSet rows = statement.executeQuery()) {
                String names = rows.next() ? rows.getString(1) : null;
                return names == null ? "" : ". Its triggers are " + names;
            }
        }
    }
}
