package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.MessageText;
import io.syncguard.jdbc.JdbcSessions;
import io.syncguard.jdbc.NetworkTimeout;
import io.syncguard.jdbc.PooledDataSource;
import io.syncguard.jdbc.UnsuitableConnectionException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * Opens connections, and records for each whether it has a session of its own. Such a session gets the library's
 * settings once. A session that a pooler lends for one transaction gets none: other clients would have them, too, and
 * could change them.
 *
 * <p>Thread-safe.
 */
final class PostgresSessions implements JdbcSessions {

    private final DataSource dataSource;
    private final Duration timeout;
    private final PostgresSessionSettings settings;
    private final PostgresSearchPath searchPath;

    /**
     * Whether each of the driver's connections has a session of its own. A pool replaces its connections, so the keys
     * are weak. A connection that was opened while the tables are missing is set up again when it is used again.
     */
    private final Map<PGConnection, Boolean> known = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout maximum wait for an answer of the server
     * @param searchPath the search path of the sessions
     */
    PostgresSessions(DataSource dataSource, Duration timeout, PostgresSearchPath searchPath) {
        this.dataSource = dataSource;
        this.timeout = timeout;
        this.settings = new PostgresSessionSettings(timeout);
        this.searchPath = searchPath;
    }

    /** Returns a prepared connection. */
    Connection getConnection() throws SQLException {
        Connection connection = PooledDataSource.lend(dataSource, timeout);
        try {
            NetworkTimeout.set(connection, timeout);
            prepare(connection);
            return connection;
        } catch (Throwable ex) {
            close(connection, ex);
            throw ex;
        }
    }

    /**
     * Fails if a transaction of somebody else is open on this connection, such as one of JTA. Asks only the driver, so
     * there is no round trip.
     *
     * @param sent whether a statement has just run on it
     */
    static void requireNoTransaction(Connection connection, boolean sent) throws SQLException {
        if (connection.unwrap(PGConnection.class) instanceof BaseConnection driver) {
            if (driver.getTransactionState() != TransactionState.IDLE) {
                throw UnsuitableConnectionException.inTransaction("a transaction is open on the connection", sent);
            }
            requireAutoCommit(driver, sent);
        } else {
            requireAutoCommit(connection, sent);
        }
    }

    private static void requireAutoCommit(Connection connection, boolean sent) throws SQLException {
        if (!connection.getAutoCommit()) {
            throw UnsuitableConnectionException.inTransaction("the connection is not in autocommit", sent);
        }
    }

    /** Adds the rights that the user lacks. */
    @Override
    public SQLException explained(Connection connection, SQLException error) {
        return PostgresRights.explained(connection, searchPath.tables(), error);
    }

    @Override
    public LockBackendException translate(String doing, SQLException error) {
        LockBackendException failure = PostgresErrors.translate(doing, error);
        return switch (SqlState.of(error)) {
            case LOCK_TIMEOUT -> limitedBy("lock_timeout", PostgresSessionSettings.lockTimeout(timeout), failure);
            case CANCELED -> limitedBy("statement_timeout", PostgresSessionSettings.statementTimeout(timeout), failure);
            default -> failure;
        };
    }

    private LockBackendException limitedBy(String setting, Duration limit, LockBackendException failure) {
        return new LockBackendException(
                failure.code(),
                failure.getMessage() + ". SyncGuard sets " + setting + " to " + MessageText.of(limit)
                        + ", a part of half of " + timeoutProperty(),
                failure.getCause());
    }

    @Override
    public String timeoutProperty() {
        return "syncguard.postgres.network-timeout";
    }

    @Override
    public boolean isConflict(LockBackendException failure) {
        return PostgresErrors.isConflict(failure);
    }

    /** Whether this connection, opened here, has a session of its own with the library's settings. */
    boolean isOurs(Connection connection) throws SQLException {
        return Boolean.TRUE.equals(known.get(connection.unwrap(PGConnection.class)));
    }

    /** The statements that begin a transaction on a pooler's session. */
    String beginOn(Connection connection) throws SQLException {
        return settings.ofTransaction(connection.getMetaData().getDatabaseMajorVersion(), searchPath.found());
    }

    /** Finds out whether the connection has a session of its own, as for {@link #isOurs}, and sets it up if so. */
    @Override
    public void prepare(Connection connection) throws SQLException {
        PGConnection driver = connection.unwrap(PGConnection.class);
        if (!known.containsKey(driver)) {
            String path = searchPath.found();
            boolean ours = setUp(connection, driver.getBackendPID(), path);
            if (!ours) {
                // A pooler may send the next execution to a session that does not know the statement.
                driver.setPrepareThreshold(0);
            }
            if (path != null || findPath(connection, ours)) {
                known.put(driver, ours);
            }
        }
    }

    /**
     * Looks for the tables after the other settings are made, because a role may have short limits. Returns whether the
     * tables exist.
     */
    private boolean findPath(Connection connection, boolean ours) throws SQLException {
        if (ours) {
            String path = searchPath.find(connection);
            return path != null
                    && setUp(connection, connection.unwrap(PGConnection.class).getBackendPID(), path);
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(beginOn(connection));
            try {
                return searchPath.find(connection) != null;
            } finally {
                statement.execute("ROLLBACK");
            }
        }
    }

    /**
     * Returns whether the session is our own. A pooler reports another process id to the driver than that of the
     * session.
     */
    private boolean setUp(Connection connection, int reportedPid, @Nullable String path) throws SQLException {
        String sql = settings.ofSession(connection.getMetaData().getDatabaseMajorVersion(), path);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, reportedPid);
            requireNoTransaction(connection, false);
            try (ResultSet rows = statement.executeQuery()) {
                requireNoTransaction(connection, false);
                return rows.next();
            }
        }
    }

    private static void close(Connection connection, Throwable failure) {
        try {
            connection.close();
        } catch (Throwable ex) {
            failure.addSuppressed(ex);
        }
    }
}
