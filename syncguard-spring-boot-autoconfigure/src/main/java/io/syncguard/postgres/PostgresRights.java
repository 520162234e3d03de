package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks at the start that the user may use the tables and functions, which may belong to another one. Without a right,
 * each lock operation would fail later.
 */
final class PostgresRights {

    private static final String TABLES = """
            SELECT t.name FROM (VALUES
                ('${syncguard_locks}', true), ('${syncguard_locks}_shared', true), ('${syncguard_locks}_waiters', true),
                ('${syncguard_fence_counters}', ?::BOOLEAN)
            ) AS t (name, deletes)
            WHERE NOT (pg_catalog.has_table_privilege(t.name, 'SELECT'::TEXT)
                AND pg_catalog.has_table_privilege(t.name, 'INSERT'::TEXT)
                AND pg_catalog.has_table_privilege(t.name, 'UPDATE'::TEXT)
                AND (NOT t.deletes OR pg_catalog.has_table_privilege(t.name, 'DELETE'::TEXT)))
            """;

    /** Somebody else may have a function of the same name, with other parameters. */
    private static final String FUNCTIONS = """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_proc p
                WHERE p.pronamespace OPERATOR(pg_catalog.=) v.pronamespace
                    AND p.proowner OPERATOR(pg_catalog.=) v.proowner
                    AND p.proname::TEXT OPERATOR(pg_catalog.=) ANY (?)
                    AND NOT pg_catalog.has_function_privilege(p.oid, 'EXECUTE'::TEXT)
            ), pg_catalog.quote_ident(n.nspname::TEXT), r.rolname, pg_catalog.quote_ident(current_user::TEXT)
            FROM pg_catalog.pg_proc v
            JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) v.pronamespace
            JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) v.proowner
            WHERE v.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(?)
            """;

    /** Names that have a schema, and tables that the role's search path would find with the right. */
    private static final String SCHEMAS = """
            SELECT pg_catalog.quote_ident(n.nspname::TEXT), r.rolname, pg_catalog.quote_ident(current_user::TEXT)
            FROM pg_catalog.pg_namespace n
            JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
            WHERE NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE'::TEXT)
                AND (n.nspname::TEXT OPERATOR(pg_catalog.=) ANY (?)
                    OR n.nspname::TEXT OPERATOR(pg_catalog.=) ANY (pg_catalog.string_to_array(
                            pg_catalog.regexp_replace(pg_catalog.current_setting('search_path'), '[" ]', '', 'g'), ','))
                        AND EXISTS (
                            SELECT FROM pg_catalog.pg_class c
                            WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid
                                AND c.relname::TEXT OPERATOR(pg_catalog.=) ANY (?)))
            """;

    private PostgresRights() {}

    /**
     * Called first: in such a schema the server finds nothing, or fails.
     *
     * @throws LockSetupException if the user may not use a schema of the tables, with the statement that grants it
     */
    static void requireSchemas(Connection connection, PostgresTables tables) throws SQLException {
        String[] names = {
            tables.locks().toLowerCase(Locale.ROOT), tables.fenceCounters().toLowerCase(Locale.ROOT)
        };
        try (PreparedStatement statement = connection.prepareStatement(SCHEMAS)) {
            statement.setArray(1, connection.createArrayOf("text", schemasOf(names)));
            statement.setArray(2, connection.createArrayOf("text", names));
            try (ResultSet rows = statement.executeQuery()) {
                if (rows.next()) {
                    throw new LockSetupException(
                            LockErrorCode.AUTH_FAILED,
                            "The user '" + rows.getString(3) + "' may not use the schema '" + rows.getString(1)
                                    + "' of SyncGuard's tables, which belongs to '" + rows.getString(2) + "'",
                            List.of("Run as '" + rows.getString(2) + "': GRANT USAGE ON SCHEMA " + rows.getString(1)
                                    + " TO " + rows.getString(3)),
                            null);
                }
            }
        }
    }

    private static String[] schemasOf(String[] names) {
        return Stream.of(names)
                .filter(name -> name.contains("."))
                .map(name -> name.substring(0, name.indexOf('.')))
                .toArray(String[]::new);
    }

    /** @throws LockSetupException if one is missing, with the statements that grant it */
    static void require(Connection connection, PostgresScript script) throws SQLException {
        List<String> missing = tablesWithout(connection, script);
        try (PreparedStatement statement = connection.prepareStatement(FUNCTIONS)) {
            statement.setArray(
                    1, connection.createArrayOf("text", script.functions().toArray()));
            statement.setString(2, script.tables().locks() + "_version()");
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                if (rows.getBoolean(1) || !missing.isEmpty()) {
                    throw refusal(
                            missing,
                            rows.getBoolean(1) ? rows.getString(2) : null,
                            rows.getString(3),
                            rows.getString(4));
                }
            }
        }
    }

    private static List<String> tablesWithout(Connection connection, PostgresScript script) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(script.tables().fill(TABLES))) {
            // Counters are forgotten by the clock only.
            statement.setBoolean(1, script.fences() == FenceSource.CLOCK);
            try (ResultSet rows = statement.executeQuery()) {
                List<String> names = new ArrayList<>();
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
                return names;
            }
        }
    }

    /** @param schema of the functions, if one may not be called */
    private static LockSetupException refusal(List<String> names, @Nullable String schema, String owner, String user) {
        String to = " TO " + user;
        List<String> grants = new ArrayList<>();
        if (!names.isEmpty()) {
            grants.add("GRANT SELECT, INSERT, UPDATE, DELETE ON " + String.join(", ", names) + to);
        }
        if (schema != null) {
            grants.add("GRANT EXECUTE ON ALL ROUTINES IN SCHEMA " + schema + to);
        }
        return new LockSetupException(
                LockErrorCode.AUTH_FAILED,
                "The user '" + user + "' may not use all tables and functions of SyncGuard, which belong to '" + owner
                        + "'",
                List.of("Run as '" + owner + "': " + String.join("; ", grants)),
                null);
    }
}
