package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.pool.HikariPool;
import io.syncguard.concurrent.Chain;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.PoolStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * A HikariCP pool without {@code HikariDataSource}, which logs four lines at info for each pool. A logger's level would
 * silence the application's own pools as well.
 *
 * <p>Replaces a spoiled pool. HikariCP reads from the first connection the isolation level that it sets on all
 * connections. If that connection breaks at this moment, or the answer is late, HikariCP sets the level -1, and no
 * later connection succeeds: <a href="https://github.com/brettwooldridge/HikariCP/issues/1944">issue 1944</a>.
 */
final class LockPool extends AbstractDataSource implements PooledDataSource, AutoCloseable {

    private static final Log log = LogFactory.getLog(LockPool.class);

    /** The driver knows no such isolation level. */
    private static final String FEATURE_NOT_SUPPORTED = "0A000";

    /** Maximum wait of a shutdown for connections in use: longer than a statement that succeeds. */
    private static final long LONGEST_USE_NANOS = Duration.ofMillis(500).toNanos();

    private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

    private final HikariConfig config;

    private final Time time;

    /**
     * Why the pool could not connect; {@code null} once a connection was lent. HikariCP tells that only one of the
     * threads that wait, and the others that no connection was free. Written by all of them.
     */
    private volatile @Nullable Throwable refusal;

    /** {@code null} while all connections are closed. */
    private volatile @Nullable HikariPool pool;

    /**
     * Guarded by this object. A HikariPool that is shut down would let callers wait for a connection that never comes.
     */
    private boolean closed;

    LockPool(HikariConfig config) {
        this(config, Time.SYSTEM);
    }

    LockPool(HikariConfig config, Time time) {
        config.validate();
        this.config = config;
        this.time = time;
        this.pool = new HikariPool(config);
    }

    HikariConfig config() {
        return config;
    }

    @Override
    public PoolStatus status() {
        HikariPool current = pool;
        return current == null
                ? new PoolStatus(0, 0, 0, config.getMaximumPoolSize())
                : new PoolStatus(
                        current.getActiveConnections(),
                        current.getIdleConnections(),
                        current.getThreadsAwaitingConnection(),
                        config.getMaximumPoolSize());
    }

    @Override
    public Connection getConnection() throws SQLException {
        return getConnection(Duration.ofMillis(config.getConnectionTimeout()));
    }

    /**
     * Lends a connection. HikariCP tests idle connections one after the other until one works, and reacts neither to an
     * interrupt nor to its time limit meanwhile. So this asks for one idle connection at a time. It waits for a new one
     * in two halves, and replaces a spoiled pool between them.
     *
     * <p>HikariCP knows a broken connection by the SQLSTATEs of some databases, not by those of H2. It tests none that
     * was used in the last half second, so a busy pool would lend such a connection again and again.
     */
    @Override
    public Connection getConnection(Duration limit) throws SQLException {
        long deadline = time.nanoTime() + limit.toNanos();
        SQLException reason = null;
        while (true) {
            if (Thread.currentThread().isInterrupted()) {
                throw new SQLException("Interrupted while waiting for a connection", new InterruptedException());
            }
            HikariPool current = opened();
            long left = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - time.nanoTime()));
            long half = Math.max(1, limit.toMillis() / 2);
            try {
                Connection connection =
                        current.getConnection(current.getIdleConnections() > 0 ? 1 : Math.min(left, half));
                if (connection.unwrap(Connection.class).isClosed()) {
                    current.evictConnection(connection);
                    throw new SQLTransientConnectionException("The driver has closed the connection");
                }
                refusal = null;
                return connection;
            } catch (SQLTransientConnectionException ex) {
                // HikariCP reports only once why it could not connect.
                reason = reason == null || ex.getCause() != null ? ex : reason;
                refusal = ex.getCause() == null ? refusal : ex.getCause();
                if (left <= 1) {
                    throw explained(reason);
                }
                if (isSpoiled(ex)) {
                    replace(current);
                }
            }
        }
    }

    /** Adds why the pool could not connect, if another thread was told. */
    private SQLException explained(SQLException timeout) {
        Throwable known = refusal;
        return timeout.getCause() != null || known == null
                ? timeout
                : new SQLTransientConnectionException(timeout.getMessage(), stateOf(known), known);
    }

    private static @Nullable String stateOf(Throwable failure) {
        return failure instanceof SQLException known ? known.getSQLState() : null;
    }

    private static boolean isSpoiled(SQLException error) {
        return Chain.end(error, Throwable::getCause) instanceof SQLException cause
                && FEATURE_NOT_SUPPORTED.equals(cause.getSQLState());
    }

    private void replace(HikariPool spoiled) {
        synchronized (this) {
            if (pool != spoiled) {
                return;
            }
            pool = new HikariPool(config);
        }
        shutDown(spoiled);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    /** A HikariPool opens its connections on threads of its own. */
    private HikariPool opened() throws SQLException {
        HikariPool current = pool;
        if (current != null) {
            return current;
        }
        synchronized (this) {
            if (closed) {
                throw new SQLException(config.getPoolName() + " has been closed");
            }
            HikariPool open = pool == null ? new HikariPool(config) : pool;
            pool = open;
            return open;
        }
    }

    @Override
    public void reconnect() {
        try {
            opened();
        } catch (SQLException ex) {
            log.debug("The pool stays closed", ex);
        }
    }

    @Override
    public void disconnect() {
        HikariPool last;
        synchronized (this) {
            last = pool;
            pool = null;
        }
        if (last != null) {
            shutDown(last);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        disconnect();
    }

    /**
     * Shuts a pool down when all connections are back, or after {@link #LONGEST_USE_NANOS}, because HikariCP may leave
     * a connection open that comes back during the shutdown.
     */
    private void shutDown(HikariPool pool) {
        long end = time.nanoTime() + LONGEST_USE_NANOS;
        uninterrupted(() -> {
            while (pool.getActiveConnections() > 0 && time.nanoTime() < end) {
                time.sleep(LOOK_NANOS);
            }
            pool.shutdown();
        });
    }

    /** Repeats the work after each interrupt, because an interrupted HikariCP leaves threads and connections behind. */
    private static void uninterrupted(Interruptible work) {
        boolean interrupted = Thread.interrupted();
        try {
            for (boolean done = false; !done; ) {
                try {
                    work.run();
                    done = true;
                } catch (InterruptedException ex) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @FunctionalInterface
    private interface Interruptible {
        void run() throws InterruptedException;
    }
}
