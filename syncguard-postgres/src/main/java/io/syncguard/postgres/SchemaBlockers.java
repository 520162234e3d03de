package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Names the sessions that hold up the script, after its statement has given up its wait. */
final class SchemaBlockers {

    /**
     * Finds the sessions that hold a strong lock on one of the tables, and those that have created a relation and not
     * committed: it may be one of the tables, and others see only its lock. Sessions with any other lock on the tables
     * come after them. A prepared transaction has no session.
     */
    private static final String HOLDERS = """
            SELECT k.pid, coalesce(a.usename::pg_catalog.text, p.owner::pg_catalog.text, a.backend_type),
                coalesce(a.application_name,
                    'prepared transaction '::pg_catalog.text OPERATOR(pg_catalog.||) p.gid)
            FROM pg_catalog.pg_locks k
            JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) k.database
                AND d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
            LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) k.relation
            LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) k.pid
            LEFT JOIN pg_catalog.pg_prepared_xacts p ON k.pid IS NULL
                AND k.virtualtransaction OPERATOR(pg_catalog.=)
                    ('-1/'::pg_catalog.text OPERATOR(pg_catalog.||) p.transaction::pg_catalog.text)
            WHERE k.locktype OPERATOR(pg_catalog.=) 'relation' AND k.granted
                AND (k.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()) IS NOT TRUE
                AND (k.relation OPERATOR(pg_catalog.=) ANY (ARRAY(
                        SELECT pg_catalog.to_regclass(w.name)::pg_catalog.oid
                        FROM pg_catalog.unnest(?::pg_catalog.text[]) AS w (name)))
                    OR c.oid IS NULL AND k.mode OPERATOR(pg_catalog.=) 'AccessExclusiveLock')
            GROUP BY k.pid, a.usename, p.owner, a.backend_type, a.application_name, p.gid
            ORDER BY pg_catalog.bool_or(k.mode OPERATOR(pg_catalog.<>) ALL (
                ARRAY['AccessShareLock', 'RowShareLock', 'RowExclusiveLock'])) DESC, k.pid
            LIMIT 3
            """;

    private SchemaBlockers() {}

    /** Returns the sessions, as {@code 4711 (user 'orders', application 'psql')}; none if the server shows none. */
    static List<String> of(Connection connection, PostgresTables tables) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(HOLDERS)) {
            statement.setArray(1, connection.createArrayOf("text", tables.all().toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                List<String> sessions = new ArrayList<>();
                while (rows.next()) {
                    sessions.add(rows.getInt(1) + " (user '" + rows.getString(2) + "', application '"
                            + rows.getString(3) + "')");
                }
                return sessions;
            }
        }
    }
}
