package io.syncguard.postgres;

import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.springframework.util.StringUtils;

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
            IF FOUND THEN DELETE FROM %1$s WHERE lock_id = '%2$s' AND expires_at_ms = 120000; END IF;
            """;

    private static final String QUEUE_ENTRY = """
            INSERT INTO %1$s (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, channel, waiter,
                owner, secret, permits)
            VALUES ('%2$s', '%2$s', 1, false, 60000, 5000, true, 'start', 1, 'start', 'start', 1);
            UPDATE %1$s SET expires_at_ms = 120000
            WHERE lock_id = '%2$s' AND key = '%2$s' AND arrived_at_ms = 1 AND NOT shared AND expires_at_ms = 60000
                AND ttl_ms = 5000 AND hand_over AND channel = 'start' AND waiter = 1 AND owner = 'start'
                AND secret = 'start' AND permits = 1;
            IF FOUND THEN DELETE FROM %1$s WHERE lock_id = '%2$s' AND expires_at_ms = 120000; END IF;
            """;

    private static final String COUNTER = """
            INSERT INTO %1$s (fence_key, fence) VALUES ('%2$s', 1);
            UPDATE %1$s SET fence = 2 WHERE fence_key = '%2$s' AND fence = 1;
            IF FOUND THEN UPDATE %1$s SET fence = 3 WHERE fence_key = '%2$s' AND fence = 2; END IF;
            """;

    /** Only fences by the clock delete counters. */
    private static final String COUNTER_BY_THE_CLOCK =
            COUNTER.replaceFirst("UPDATE \\S+ SET fence = 3", "DELETE FROM %1\\$s");

    /** FOUND is that of the last change. An exception undoes all, and names the table and its triggers. */
    private static final String ONE_TABLE = """
            BEGIN
                %2$s
                SET CONSTRAINTS ALL IMMEDIATE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = '23000', MESSAGE = 'a change of the row was lost';
                END IF;
                RAISE EXCEPTION USING ERRCODE = 'SGUND';
            EXCEPTION
                WHEN SQLSTATE 'SGUND' THEN
                    NULL;
                WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS "Text" = MESSAGE_TEXT;
                    RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = "Text", TABLE = '%1$s', HINT = coalesce((
                        SELECT 'Its triggers are '::TEXT OPERATOR(pg_catalog.||)
                            pg_catalog.string_agg(tgname::TEXT, ', '::TEXT ORDER BY tgname)
                        FROM pg_catalog.pg_trigger
                        WHERE tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('%1$s') AND NOT tgisinternal), '');
            END;
            """;

    /** @throws LockSetupException if a table does not keep the row, which it names with its triggers */
    void check() throws SQLException {
        PostgresTables tables = script.tables();
        String counter = script.fences() == FenceSource.CLOCK ? COUNTER_BY_THE_CLOCK : COUNTER;
        String block = "DO $probe$ DECLARE \"Text\" pg_catalog.text; BEGIN\n"
                + changes("${syncguard_locks}", LEASE)
                + changes("${syncguard_locks}_shared", LEASE)
                + changes("${syncguard_locks}_waiters", QUEUE_ENTRY)
                + changes("${syncguard_fence_counters}", counter)
                + "END $probe$";
        try (Statement statement = connection.createStatement()) {
            statement.execute(tables.fill(block));
        } catch (SQLException ex) {
            throw refused(ex);
        }
    }

    private static String changes(String table, String changes) {
        return ONE_TABLE.formatted(table, changes.formatted(table, "syncguard:start:" + UUID.randomUUID()));
    }

    /** The block names the table that refused what was written. Otherwise the connection or the server failed. */
    private static SQLException refused(SQLException error) {
        ServerErrorMessage message = error instanceof PSQLException reported ? reported.getServerErrorMessage() : null;
        if (message == null
                || message.getTable() == null
                || SqlState.of(error).concern() != SqlState.Concern.STATEMENT) {
            return error;
        }
        throw new LockSetupException(
                PostgresErrors.codeOf(error),
                "The table '" + message.getTable() + "' does not keep a row as it is written: " + message.getMessage()
                        + (StringUtils.hasLength(message.getHint()) ? ". " + message.getHint() : ""),
                List.of(
                        "Drop the triggers, columns and constraints that somebody added",
                        "Let the function of a trigger return the row as it is, and give it its rights: SECURITY"
                                + " DEFINER"),
                PostgresErrors.withoutDetail(error));
    }
}
