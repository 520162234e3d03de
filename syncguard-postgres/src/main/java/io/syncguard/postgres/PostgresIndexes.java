package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Checks at the start that the tables have valid indexes, and that a crash does not empty the tables. The unique
 * indexes are part of the protocol; without one of the others, the locks are slow.
 */
final class PostgresIndexes {

    private static final Log log = LogFactory.getLog(PostgresIndexes.class);

    private static final String MISSING = """
            SELECT w.name, pg_catalog.array_to_string(w.columns, ', '::TEXT), w.is_unique
            FROM (VALUES
                ('${syncguard_locks}', ARRAY['key'], true),
                ('${syncguard_locks}', ARRAY['lock_id'], true),
                ('${syncguard_locks}_shared', ARRAY['lock_id'], true),
                ('${syncguard_locks}_waiters', ARRAY['lock_id'], true),
                ('${syncguard_fence_counters}', ARRAY['fence_key'], true),
                ('${syncguard_locks}', ARRAY['expires_at_ms'], false),
                ('${syncguard_locks}_shared', ARRAY['expires_at_ms'], false),
                ('${syncguard_locks}_shared', ARRAY['key', 'expires_at_ms'], false),
                ('${syncguard_locks}_waiters', ARRAY['key', 'arrival'], false)
            ) AS w (name, columns, is_unique)
            WHERE NOT EXISTS (
                SELECT FROM pg_catalog.pg_index i
                JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
                JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) c.relam
                    AND m.amname OPERATOR(pg_catalog.=) 'btree'
                WHERE i.indrelid OPERATOR(pg_catalog.=) w.name::pg_catalog.regclass
                    AND i.indisvalid AND i.indpred IS NULL
                    AND (NOT w.is_unique OR i.indisunique AND i.indimmediate
                        AND i.indnkeyatts OPERATOR(pg_catalog.=) pg_catalog.cardinality(w.columns)::INT2)
                    AND w.columns OPERATOR(pg_catalog.=) ARRAY(
                        SELECT a.attname::TEXT
                        FROM pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
                        JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid
                            AND a.attnum OPERATOR(pg_catalog.=) k.attnum
                        WHERE k.position OPERATOR(pg_catalog.<=) pg_catalog.cardinality(w.columns)
                        ORDER BY k.position
                    )
            )
            """;

    private static final String UNLOGGED = """
            SELECT w.name
            FROM (VALUES
                ('${syncguard_locks}'), ('${syncguard_locks}_shared'), ('${syncguard_fence_counters}')
            ) AS w (name)
            JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) w.name::pg_catalog.regclass
                AND c.relpersistence OPERATOR(pg_catalog.=) 'u'
            """;

    private PostgresIndexes() {}

    /** @throws LockSetupException if a unique index is missing */
    static void check(Connection connection, PostgresTables tables) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(MISSING))) {
            while (rows.next()) {
                String table = rows.getString(1);
                String columns = rows.getString(2);
                if (rows.getBoolean(3)) {
                    throw missing(table, columns);
                }
                log.warn("The table '" + table + "' has no valid index on " + columns
                        + ": lock operations become slow as it grows. Run: CREATE INDEX CONCURRENTLY ON " + table + " ("
                        + columns + ")");
            }
        }
        warnOfUnlogged(connection, tables);
    }

    private static void warnOfUnlogged(Connection connection, PostgresTables tables) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(UNLOGGED))) {
            while (rows.next()) {
                String table = rows.getString(1);
                log.warn("The table '" + table + "' is UNLOGGED: after a crash PostgreSQL empties it, so that locks are"
                        + " lost or fences begin again. Run: ALTER TABLE " + table + " SET LOGGED");
            }
        }
    }

    private static LockSetupException missing(String table, String columns) {
        return new LockSetupException(
                LockErrorCode.SCHEMA_MISSING,
                "The table '" + table + "' has no valid unique index on " + columns
                        + ": two holders could have one key, or a fence be used twice",
                List.of(
                        "End all instances, delete double rows, and run: CREATE UNIQUE INDEX ON " + table + " ("
                                + columns + ")",
                        "Have the library create other tables: choose another name in syncguard.postgres.locks-table"
                                + " and fence-counters-table"),
                null);
    }
}
