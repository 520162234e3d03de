package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Distinguishes the databases of all servers. URLs do not identify a database: two of them may lead to the same one
 * through a pooler, and one URL may lead to two databases.
 */
public final class DatabaseIdentity {

    /** The start time distinguishes a server from its standbys and copies, which have the same system identifier. */
    static final String EXPRESSION = "extract(epoch FROM pg_catalog.pg_postmaster_start_time())::NUMERIC"
            + "::pg_catalog.text OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) d.oid::pg_catalog.text";

    private static final String QUERY = "SELECT " + EXPRESSION + " FROM pg_catalog.pg_database d"
            + " WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()";

    private DatabaseIdentity() {}

    /** The text that all connections to one PostgreSQL database share until its server starts again. */
    public static String of(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(QUERY)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
