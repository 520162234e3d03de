package io.syncguard.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.postgresql.PGConnection;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * A connection of the application, in autocommit. It goes back to the application as it came: with the application's
 * settings, search path, role, timeout and autocommit.
 */
final class LentConnection {

    private static final Log log = LogFactory.getLog(LentConnection.class);

    /** For one query of a few rows. */
    private static final int TIMEOUT_MILLIS = 5000;

    /** What was set in the session. The view lacks the role. */
    private static final String SETTINGS = """
            SELECT s.name, pg_catalog.current_setting(s.name) FROM pg_catalog.pg_settings s
            WHERE s.source OPERATOR(pg_catalog.=) 'session'
            UNION ALL SELECT 'role', pg_catalog.current_setting('role')
            """;

    /** A pooler may use another session now, whose settings are those of others. */
    private static final String RESTORE = """
            SELECT pg_catalog.set_config(s.name, COALESCE(b.value, s.reset_val), false)
            FROM (SELECT name, reset_val FROM pg_catalog.pg_settings WHERE source OPERATOR(pg_catalog.=) 'session'
                UNION ALL SELECT 'role', 'none') s
            LEFT JOIN ROWS FROM (pg_catalog.unnest(?::pg_catalog.text[]), pg_catalog.unnest(?::pg_catalog.text[]))
                AS b(name, value) ON b.name OPERATOR(pg_catalog.=) s.name
            WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) ?
            """;

    private final Connection connection;
    private final boolean autoCommit;
    private final int timeout;
    private final List<String> names = new ArrayList<>();
    private final List<String> values = new ArrayList<>();

    private LentConnection(Connection connection) throws SQLException {
        this.connection = connection;
        this.autoCommit = connection.getAutoCommit();
        leaveTransaction();
        boolean isPostgres = connection.isWrapperFor(PGConnection.class);
        this.timeout = isPostgres ? connection.getNetworkTimeout() : 0;
        if (isPostgres) {
            connection.setNetworkTimeout(Runnable::run, TIMEOUT_MILLIS);
            try (Statement statement = driver().createStatement();
                    ResultSet rows = statement.executeQuery(SETTINGS)) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                    values.add(rows.getString(2));
                }
            }
            connection.setNetworkTimeout(Runnable::run, timeout);
        }
    }

    static Connection of(Connection connection) throws SQLException {
        try {
            return new LentConnection(connection).proxy();
        } catch (SQLException | RuntimeException ex) {
            JdbcUtils.closeConnection(connection);
            throw ex;
        }
    }

    private void leaveTransaction() {
        try {
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException ex) {
            // The start then explains which connections it needs.
            throw new IllegalStateException(ex.getMessage(), ex);
        }
    }

    private Connection proxy() {
        return (Connection) Proxy.newProxyInstance(
                LentConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    if (method.getName().equals("close") && !connection.isClosed()) {
                        restore();
                    }
                    try {
                        return method.invoke(connection, args);
                    } catch (InvocationTargetException ex) {
                        throw ex.getTargetException();
                    } finally {
                        if (method.getName().equals("abort")) {
                            // HikariCP does not close it, and the pool of the application would count it for ever.
                            JdbcUtils.closeConnection(connection);
                        }
                    }
                });
    }

    /** A wrapper that records the statements of the application must not find ours among them. */
    private Connection driver() throws SQLException {
        return connection.unwrap(PGConnection.class) instanceof Connection driver ? driver : connection;
    }

    private void restore() throws SQLException {
        try {
            if (!names.isEmpty()) {
                connection.setNetworkTimeout(Runnable::run, TIMEOUT_MILLIS);
                restoreSettings();
                connection.setNetworkTimeout(Runnable::run, timeout);
            }
            if (!autoCommit) {
                connection.setAutoCommit(false);
            }
        } catch (SQLException | RuntimeException ex) {
            log.debug("A connection of the application is ended, because its settings were not restored", ex);
            connection.abort(Runnable::run);
        }
    }

    private void restoreSettings() throws SQLException {
        Connection driver = driver();
        try (PreparedStatement statement = driver.prepareStatement(RESTORE)) {
            statement.setArray(1, driver.createArrayOf("text", names.toArray()));
            statement.setArray(2, driver.createArrayOf("text", values.toArray()));
            statement.setInt(3, connection.unwrap(PGConnection.class).getBackendPID());
            statement.execute();
        }
    }
}
