package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Connections of which is known whether a server's session belongs to them. Where it does, it gets our settings once.
 * Where it does not, because a pooler lends sessions for one transaction, nothing is set that a stranger would meet,
 * and nothing is expected that a stranger could have undone.
 *
 * <p>Threads may share it.
 */
final class PostgresSessions extends AbstractDataSource {

    private final DataSource dataSource;
    private final Duration timeout;
    private final PostgresSessionSettings settings;

    /**
     * Whether the session belongs to the connection, by the driver's connections, of which a pool keeps few for long.
     */
    private final Map<PGConnection, Boolean> known = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout how long the server may be silent, at most
     */
    PostgresSessions(DataSource dataSource, Duration timeout) {
        this.dataSource = dataSource;
        this.timeout = timeout;
        this.settings = new PostgresSessionSettings(timeout);
    }

    /** A connection with a session that is ours or not, as {@link #isOurs} says. */
    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = dataSource.getConnection();
        try {
            limitSilence(connection, timeout);
            prepare(connection);
            return connection;
        } catch (SQLException | RuntimeException ex) {
            close(connection, ex);
            throw ex;
        }
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    /** How long the server may be silent. Known to the driver alone: no round trip. The pool takes it back. */
    static void limitSilence(Connection connection, Duration limit) throws SQLException {
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(limit.toMillis()));
    }

    /** Whether this connection, which was opened here, has a session of its own, with our settings. */
    boolean isOurs(Connection connection) throws SQLException {
        return Boolean.TRUE.equals(known.get(connection.unwrap(PGConnection.class)));
    }

    /** What begins a transaction on a session that is not ours. */
    String beginOn(Connection connection) throws SQLException {
        return settings.ofTransaction(connection.getMetaData().getDatabaseMajorVersion());
    }

    private void prepare(Connection connection) throws SQLException {
        PGConnection driver = connection.unwrap(PGConnection.class);
        if (!known.containsKey(driver)) {
            boolean ours = setUp(connection, driver.getBackendPID());
            if (!ours) {
                // A pooler may send the next execution to a session that does not know the statement.
                driver.setPrepareThreshold(0);
            }
            known.put(driver, ours);
        }
    }

    /** Whoever greeted the driver with another process id than the server's own is a pooler. */
    private boolean setUp(Connection connection, int greetedBy) throws SQLException {
        String sql = settings.ofSession(connection.getMetaData().getDatabaseMajorVersion());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, greetedBy);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }

    private static void close(Connection connection, Exception failure) {
        try {
            connection.close();
        } catch (SQLException ex) {
            failure.addSuppressed(ex);
        }
    }
}
