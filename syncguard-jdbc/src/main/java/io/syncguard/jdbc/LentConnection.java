package io.syncguard.jdbc;

import io.syncguard.jdbc.JdbcDatabase.Session;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * A connection of the application, in autocommit. It goes back to the application as it came: with the application's
 * settings, search path, role, timeout and autocommit.
 */
public final class LentConnection {

    private static final Log log = LogFactory.getLog(LentConnection.class);

    /** The time limit for one query of a few rows. */
    private static final int TIMEOUT_MILLIS = 5000;

    private final Connection connection;
    private final boolean autoCommit;
    private final int timeout;

    /** The driver's own connection; {@code null} if another driver opened it. */
    private final @Nullable Connection driver;

    private final @Nullable Session session;

    private LentConnection(Connection connection, JdbcDatabase database) throws SQLException {
        this.connection = connection;
        this.autoCommit = connection.getAutoCommit();
        leaveTransaction();
        this.driver = database.ofDriver(connection);
        if (driver == null) {
            this.timeout = 0;
            this.session = null;
        } else {
            this.timeout = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, TIMEOUT_MILLIS);
            this.session = database.read(driver);
            connection.setNetworkTimeout(Runnable::run, timeout);
        }
    }

    /** Wraps a connection, which is closed if that fails. */
    public static Connection of(Connection connection, JdbcDatabase database) throws SQLException {
        try {
            return new LentConnection(CompleteConnection.of(connection, database), database).proxy();
        } catch (SQLException | RuntimeException ex) {
            JdbcUtils.closeConnection(connection);
            throw ex;
        }
    }

    private void leaveTransaction() throws MissingFeatureException {
        try {
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
        } catch (MissingFeatureException ex) {
            throw ex;
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

    private void restore() throws SQLException {
        try {
            if (session != null && driver != null) {
                connection.setNetworkTimeout(Runnable::run, TIMEOUT_MILLIS);
                session.restore(driver);
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
}
