package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.DriverDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Opens a connection with details that were derived from a {@code DataSource}, before the library relies on them: a
 * {@code DataSource} may hide its password, or change its connections.
 */
final class TrialConnection {

    private static final Log log = LogFactory.getLog(TrialConnection.class);

    /** The state of a session that determines where the tables of the locks are found, and with which rights. */
    private static final String SESSION = """
            SELECT pg_catalog.format('database %s as user %s, role %s, with search_path %s', pg_catalog.current_database(),
                session_user, current_user, pg_catalog.current_setting('search_path'))
            """;

    private TrialConnection() {}

    /** Returns why the details give no connection; {@code null} if they do, or if the application gets none either. */
    static @Nullable String failure(HikariConfig details, DataSource application, Duration timeout) {
        try {
            sessionOf(details, timeout);
            return null;
        } catch (SQLException | RuntimeException ex) {
            return failure(ex, application);
        }
    }

    /** Does the same, and also returns why such a connection differs from those of the application. */
    static @Nullable String problem(HikariConfig details, DataSource application, Duration timeout) {
        String session;
        try {
            session = sessionOf(details, timeout);
        } catch (SQLException | RuntimeException ex) {
            return failure(ex, application);
        }
        try (Connection connection = application.getConnection()) {
            String expected = session(connection);
            return expected.equals(session) ? null : "they lead to " + session + ", and its own ones to " + expected;
        } catch (SQLException | RuntimeException ex) {
            log.debug("The DataSource gives no connection to compare with", ex);
            return null;
        }
    }

    private static @Nullable String failure(Exception failure, DataSource application) {
        return works(application) ? "a connection with them failed: " + failure.getMessage() : null;
    }

    private static boolean works(DataSource application) {
        try (Connection connection = application.getConnection()) {
            return connection.isValid(1);
        } catch (SQLException | RuntimeException ex) {
            log.debug("The DataSource gives no connection either", ex);
            return false;
        }
    }

    private static Connection open(HikariConfig details, Duration timeout) throws SQLException {
        Properties properties = new Properties();
        properties.putAll(details.getDataSourceProperties());
        String seconds = String.valueOf(Math.max(1, timeout.toSeconds()));
        properties.setProperty("connectTimeout", seconds);
        properties.setProperty("loginTimeout", seconds);
        properties.setProperty("socketTimeout", seconds);
        return new DriverDataSource(
                        details.getJdbcUrl(),
                        details.getDriverClassName(),
                        properties,
                        details.getCredentials().getUsername(),
                        details.getCredentials().getPassword())
                .getConnection();
    }

    private static String sessionOf(HikariConfig details, Duration timeout) throws SQLException {
        try (Connection connection = open(details, timeout);
                Statement statement = connection.createStatement()) {
            if (details.getSchema() != null) {
                connection.setSchema(details.getSchema());
            }
            if (details.getConnectionInitSql() != null) {
                statement.execute(details.getConnectionInitSql());
            }
            return session(connection);
        }
    }

    private static String session(Connection connection) throws SQLException {
        if (!connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
            return connection.getMetaData().getDatabaseProductName();
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(SESSION)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
