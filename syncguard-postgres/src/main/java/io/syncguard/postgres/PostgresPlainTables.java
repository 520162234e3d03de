package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * Checks at the start that each table is a plain one, all rows of which the user sees and changes. A hidden row would
 * let two holders have one key.
 */
final class PostgresPlainTables {

    /** A session of the library asks for an error in place of hidden rows, so the error may need an explanation. */
    private static final String OTHERS = """
            SELECT w.name, pg_catalog.row_security_active(c.oid), r.rolname, current_user,
                c.relrowsecurity AND c.relforcerowsecurity
            FROM pg_catalog.unnest(?::pg_catalog.text[]) WITH ORDINALITY AS w (name, position)
            JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(w.name)
            JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner
            WHERE c.relkind OPERATOR(pg_catalog.<>) 'r'
                OR pg_catalog.row_security_active(c.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_rewrite WHERE ev_class OPERATOR(pg_catalog.=) c.oid)
                OR EXISTS (
                    SELECT FROM pg_catalog.pg_inherits
                    WHERE inhparent OPERATOR(pg_catalog.=) c.oid OR inhrelid OPERATOR(pg_catalog.=) c.oid)
            ORDER BY w.position
            LIMIT 1
            """;

    private PostgresPlainTables() {}

    /** @throws LockSetupException if a table is not plain, which it names */
    static void require(Connection connection, PostgresTables tables) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(OTHERS)) {
            statement.setArray(1, connection.createArrayOf("text", tables.all().toArray()));
            try (ResultSet rows = statement.executeQuery()) {
                if (rows.next()) {
                    throw rows.getBoolean(2)
                            ? hidden(rows.getString(1), rows.getString(3), rows.getString(4), rows.getBoolean(5))
                            : notPlain(rows.getString(1));
                }
            }
        }
    }

    private static LockSetupException hidden(String table, String owner, String user, boolean forced) {
        return new LockSetupException(
                LockErrorCode.AUTH_FAILED,
                "Row level security is on for the table '" + table + "' and the user '" + user
                        + "': two holders could have a key whose lease it hides",
                List.of(
                        "Run as '" + owner + "': ALTER TABLE " + table + (forced ? " NO FORCE ROW LEVEL SECURITY," : "")
                                + " DISABLE ROW LEVEL SECURITY",
                        "Run as a superuser: ALTER ROLE " + PostgresSearchPath.quoted(user) + " BYPASSRLS"),
                null);
    }

    private static LockSetupException notPlain(String table) {
        return LockSetupException.invalid(
                "'" + table + "' has to be a plain table, but is a view, has a rule, or is part of a partitioned or"
                        + " inherited table: it may hide leases, or keep two with one key",
                "Drop its rules, and the tables that inherit from it",
                "End all instances, and rename it, so that the library creates another one",
                "Choose another name in syncguard.postgres.locks-table and fence-counters-table");
    }
}
