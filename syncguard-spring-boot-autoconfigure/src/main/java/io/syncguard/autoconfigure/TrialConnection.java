package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.beans.DirectFieldAccessor;

/**
 * Opens a connection with details that were derived from a {@code DataSource}, before the library relies on them: a
 * {@code DataSource} may hide its password, or change its connections. The application's own connection comes first: if
 * it fails, perhaps because it refuses a false server, no password leaves.
 */
final class TrialConnection {

    /** The encryption and the server, and what determines where the tables of the locks are found, with which rights. */
    private static final String SESSION = """
            SELECT pg_catalog.format('a server of %s with %s', pg_catalog.pg_postmaster_start_time(),
                CASE WHEN s.ssl THEN pg_catalog.format('%s %s %s', s.version, s.cipher, s.client_dn)
                    WHEN g.encrypted THEN 'GSSAPI' ELSE 'no encryption' END),
                pg_catalog.format('database %s as user %s, role %s, with search_path %s', pg_catalog.current_database(),
                session_user, current_user, pg_catalog.current_setting('search_path'))
            FROM pg_catalog.pg_stat_ssl s, pg_catalog.pg_stat_gssapi g
            WHERE s.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND g.pid OPERATOR(pg_catalog.=) s.pid
            """;

    /** @param peer server and encryption, which only PostgreSQL tells */
    private record Session(String peer, String state) {

        @Override
        public String toString() {
            return state + " on " + peer;
        }
    }

    /** @param passing whether a later attempt may succeed with the same details */
    record Problem(String text, boolean passing) {}

    private TrialConnection() {}

    /**
     * Returns why connections with the details are not like those of the application; {@code null} if they are.
     *
     * @throws SQLException if the application gets no connection either
     */
    static @Nullable Problem problem(HikariConfig details, DataSourceTarget application) throws SQLException {
        HikariDataSource pool = application.pool();
        try (Connection own = application.inner().getConnection()) {
            return pool != null && !isOf(pool, own)
                    ? new Problem(
                            "its connections are not those of "
                                    + pool.getClass().getName(),
                            false)
                    : problem(details, own, pool == null);
        }
    }

    /** @param whole whether the state of the session counts, too, which a wrapper of a pool may have changed */
    private static @Nullable Problem problem(HikariConfig details, Connection own, boolean whole) {
        try {
            Session expected = session(own);
            Session actual = sessionWith(details);
            return expected.peer().equals(actual.peer())
                            && (!whole || expected.state().equals(actual.state()))
                    ? null
                    : new Problem("they lead to " + actual + ", and its own ones to " + expected, false);
        } catch (SQLException | RuntimeException ex) {
            return new Problem("a connection with them failed: " + ex.getMessage(), isPassing(ex));
        }
    }

    /** Whether the server has too many connections, or starts or stops. */
    private static boolean isPassing(Exception error) {
        return error instanceof SQLException refusal
                && refusal.getSQLState() != null
                && (refusal.getSQLState().startsWith("53")
                        || refusal.getSQLState().startsWith("57"));
    }

    /**
     * Whether the pool has opened this connection. Its class may open others, and a wrapper may have another source.
     * HikariCP shows its connections nowhere else.
     */
    private static boolean isOf(HikariDataSource pool, Connection connection) {
        try {
            PGConnection driver = connection.unwrap(PGConnection.class);
            if (new DirectFieldAccessor(pool).getPropertyValue("pool.connectionBag.sharedList")
                    instanceof List<?> entries) {
                for (Object entry : entries) {
                    if (new DirectFieldAccessor(entry).getPropertyValue("connection") instanceof Connection each
                            && each.unwrap(PGConnection.class) == driver) {
                        return true;
                    }
                }
            }
            return false;
        } catch (SQLException | RuntimeException ex) {
            return false;
        }
    }

    private static Session sessionWith(HikariConfig details) throws SQLException {
        try (Connection connection = FollowingDataSource.open(details)) {
            return session(connection);
        }
    }

    private static Session session(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            return new Session(product, product);
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(SESSION)) {
            rows.next();
            return new Session(rows.getString(1), rows.getString(2));
        }
    }
}
