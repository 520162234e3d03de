package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Opens connections of a {@code DataSource} of the application, and fails if they lead to more than one database. A
 * {@code DataSource} without a readable URL may choose the database by the thread, and each database would then grant
 * the same key. Thread-safe.
 */
public final class OneStoreDataSource extends DelegatingDataSource {

    /** Identifies the store. The answer stays the same after a restart and a failover. */
    private static final String STORE = """
            SELECT pg_catalog.format('database ''%s'' of server %s', pg_catalog.current_database(), system_identifier)
            FROM pg_catalog.pg_control_system()
            """;

    private final Duration timeout;

    /** The store that the first connection leads to. */
    private final AtomicReference<@Nullable String> first;

    /** @param timeout maximum wait for an answer of the server */
    public OneStoreDataSource(DataSource application, Duration timeout) {
        this(application, timeout, new AtomicReference<>());
    }

    private OneStoreDataSource(DataSource source, Duration timeout, AtomicReference<@Nullable String> first) {
        super(source);
        this.timeout = timeout;
        this.first = first;
    }

    /** Returns another {@code DataSource} whose connections have to lead to the same store as those of this one. */
    public OneStoreDataSource through(DataSource other) {
        return new OneStoreDataSource(other, timeout, first);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return checked(super::getConnection);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return checked(() -> super.getConnection(username, password));
    }

    /** The pool calls this, perhaps on a thread where the application's {@code DataSource} lacks its context. */
    @Override
    public int getLoginTimeout() {
        return (int) Math.max(1, timeout.toSeconds());
    }

    @FunctionalInterface
    private interface Opening {
        Connection open() throws SQLException;
    }

    private Connection checked(Opening opening) throws SQLException {
        Connection connection = open(opening);
        try {
            int before = connection.getNetworkTimeout();
            PostgresSessions.setNetworkTimeout(connection, timeout);
            try {
                check(connection);
            } finally {
                connection.setNetworkTimeout(Runnable::run, before);
            }
            return connection;
        } catch (SQLException | RuntimeException ex) {
            PostgresSessions.close(connection, ex);
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
        // A later check refuses other products, and names them.
        if (connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
            requireFirstStore(ofDriver(connection));
        }
    }

    /** A wrapper that records the statements of the application must not find ours among them. */
    private static Connection ofDriver(Connection connection) throws SQLException {
        return connection.isWrapperFor(PGConnection.class)
                        && connection.unwrap(PGConnection.class) instanceof Connection driver
                ? driver
                : connection;
    }

    private static void requireAutoCommit(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            try {
                connection.setAutoCommit(true);
            } catch (SQLException ex) {
                throw UnsuitableConnectionException.withoutContext(ex);
            }
        }
    }

    private void requireFirstStore(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(STORE);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            String store = rows.getString(1);
            String known = first.compareAndExchange(null, store);
            if (known != null && !known.equals(store)) {
                throw UnsuitableConnectionException.toAnotherStore(known, store);
            }
        }
    }
}
