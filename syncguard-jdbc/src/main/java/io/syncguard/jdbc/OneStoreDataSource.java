package io.syncguard.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * Opens connections of a {@code DataSource} of the application, and fails if they lead to more than one database. A
 * {@code DataSource} without a readable URL may choose the database by the thread, and each database would then grant
 * the same key. Thread-safe.
 */
final class OneStoreDataSource extends DelegatingDataSource {

    private final JdbcDatabase database;
    private final Duration timeout;

    /** The store that the first connection leads to. */
    private final AtomicReference<@Nullable String> first;

    /** @param timeout maximum wait for an answer of the server */
    OneStoreDataSource(JdbcDatabase database, DataSource application, Duration timeout) {
        this(database, application, timeout, new AtomicReference<>());
    }

    private OneStoreDataSource(
            JdbcDatabase database, DataSource source, Duration timeout, AtomicReference<@Nullable String> first) {
        super(source);
        this.database = database;
        this.timeout = timeout;
        this.first = first;
    }

    /** Returns another {@code DataSource} whose connections have to lead to the same store as those of this one. */
    OneStoreDataSource through(DataSource other) {
        return new OneStoreDataSource(database, other, timeout, first);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return checked(super::getConnection);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return checked(() -> super.getConnection(username, password));
    }

    @FunctionalInterface
    private interface Opening {
        Connection open() throws SQLException;
    }

    private Connection checked(Opening opening) throws SQLException {
        Connection connection = open(opening);
        try {
            int before = connection.getNetworkTimeout();
            NetworkTimeout.set(connection, timeout);
            try {
                check(connection);
            } finally {
                connection.setNetworkTimeout(Runnable::run, before);
            }
            return connection;
        } catch (Throwable ex) {
            JdbcUtils.closeConnection(connection);
            throw ex;
        }
    }

    /** A routing {@code DataSource} reports a missing context with exceptions of its own. */
    private static Connection open(Opening opening) throws SQLException {
        try {
            return opening.open();
        } catch (RuntimeException ex) {
            throw UnsuitableConnectionException.withoutContext(ex);
        }
    }

    private void check(Connection connection) throws SQLException {
        requireAutoCommit(connection);
        Connection driver = database.ofDriver(connection);
        // A later check refuses other products, and names them.
        if (driver != null) {
            requireFirstStore(database.storeOf(driver));
        }
    }

    private static void requireAutoCommit(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            try {
                connection.setAutoCommit(true);
            } catch (MissingFeatureException ex) {
                throw ex;
            } catch (SQLException ex) {
                throw UnsuitableConnectionException.withoutContext(ex);
            }
        }
    }

    private void requireFirstStore(String store) throws SQLException {
        String known = first.compareAndExchange(null, store);
        if (known != null && !known.equals(store)) {
            throw UnsuitableConnectionException.toAnotherStore(known, store);
        }
    }
}
