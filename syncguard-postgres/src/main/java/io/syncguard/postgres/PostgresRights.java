package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks at the start that the user may use the tables and functions, which another user may own. Without a right, each
 * lock operation would fail later.
 */
final class PostgresRights {

    private static final String TABLES = """
            SELECT t.name, p.name
            FROM (VALUES
                ('${syncguard_locks}', true), ('${syncguard_locks}_shared', true), ('${syncguard_locks}_waiters', true),
                ('${syncguard_fence_counters}', ?::BOOLEAN)
            ) AS t (name, deletes)
            CROSS JOIN pg_catalog.unnest('{SELECT,INSERT,UPDATE,DELETE}'::TEXT[]) WITH ORDINALITY AS p (name, position)
            WHERE (t.deletes OR p.position OPERATOR(pg_catalog.<) 4)
                AND NOT pg_catalog.has_table_privilege(t.name, p.name)
            ORDER BY p.position
            """;

    /** Another user may own a function of the same name, with other parameters. */
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

    /**
     * Finds schemas without the right: those in the names of the tables, and those where the role's search path would
     * find a table.
     */
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
     * Call it first: without the right, the server finds nothing in the schema, or fails.
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

    /** @throws LockSetupException if a right is missing, with the statements that grant it */
    static void require(Connection connection, PostgresScript script) throws SQLException {
        Map<String, List<String>> missing = tablesWithout(connection, script);
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

    /** Adds the missing rights, or the table whose rows are hidden, to the error of a statement about rights. */
    static SQLException explained(Connection connection, PostgresTables tables, SQLException error) {
        if (SqlState.of(error) != SqlState.MISSING_RIGHT) {
            return error;
        }
        try {
            require(connection, new PostgresScript(tables, FenceSource.COUNTER));
            PostgresPlainTables.require(connection, tables);
        } catch (LockSetupException missing) {
            return new MissingRightException(missing, error);
        } catch (SQLException ex) {
            error.addSuppressed(ex);
        }
        return error;
    }

    /** Groups the tables by the rights that the user lacks. */
    private static Map<String, List<String>> tablesWithout(Connection connection, PostgresScript script)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(script.tables().fill(TABLES))) {
            // Only a schema with fences from the clock deletes counters.
            statement.setBoolean(1, script.fences() == FenceSource.CLOCK);
            try (ResultSet rows = statement.executeQuery()) {
                Map<String, String> rights = new LinkedHashMap<>();
                while (rows.next()) {
                    rights.merge(rows.getString(1), rows.getString(2), (some, next) -> some + ", " + next);
                }
                return rights.entrySet().stream()
                        .collect(Collectors.groupingBy(
                                Map.Entry::getValue,
                                LinkedHashMap::new,
                                Collectors.mapping(Map.Entry::getKey, Collectors.toList())));
            }
        }
    }

    /** @param schema of the functions, if the user may not call one of them; otherwise {@code null} */
    private static LockSetupException refusal(
            Map<String, List<String>> tables, @Nullable String schema, String owner, String user) {
        List<String> lacks = new ArrayList<>();
        List<String> grants = new ArrayList<>();
        tables.forEach((rights, names) -> {
            lacks.add(rights + " on " + String.join(", ", names));
            grants.add("GRANT " + rights + " ON " + String.join(", ", names) + " TO " + user);
        });
        if (schema != null) {
            lacks.add("EXECUTE on functions of SyncGuard");
            grants.add("GRANT EXECUTE ON ALL ROUTINES IN SCHEMA " + schema + " TO " + user);
        }
        return new LockSetupException(
                LockErrorCode.AUTH_FAILED,
                "The user '" + user + "' lacks " + String.join(", and ", lacks) + ", owned by '" + owner + "'",
                List.of("Run as '" + owner + "': " + String.join("; ", grants)),
                null);
    }
}
