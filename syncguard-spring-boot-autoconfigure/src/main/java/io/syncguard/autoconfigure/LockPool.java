package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.pool.HikariPool;
import io.syncguard.concurrent.Time;
import io.syncguard.postgres.PooledDataSource;
import io.syncguard.spi.PoolStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * A HikariCP pool without {@code HikariDataSource}, which logs four lines at info for each pool. A logger's level would
 * silence the application's own pools as well.
 *
 * <p>A spoiled pool is replaced. The first connection tells HikariCP the isolation level that all connections shall
 * have. If it breaks at that moment, or the answer is late, HikariCP sets the level -1, and no later connection
 * succeeds: <a href="https://github.com/brettwooldridge/HikariCP/issues/1944">issue 1944</a>.
 */
final class LockPool extends AbstractDataSource implements PooledDataSource, AutoCloseable {

    /** The driver knows no such isolation level. */
    private static final String FEATURE_NOT_SUPPORTED = "0A000";

    /** How long the end of the pool waits for connections that are in use: longer than a statement that succeeds. */
    private static final long LONGEST_USE_NANOS = Duration.ofMillis(500).toNanos();

    private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

    private final HikariConfig config;
    private volatile HikariPool pool;

    /** Whether it has given a connection: it is not spoiled any more. */
    private volatile boolean works;

    /** After its end, HikariPool itself would let a caller wait for a connection that never comes. */
    private volatile boolean closed;

    LockPool(HikariConfig config) {
        config.validate();
        this.config = config;
        this.pool = new HikariPool(config);
    }

    HikariConfig config() {
        return config;
    }

    @Override
    public PoolStatus status() {
        return new PoolStatus(
                pool.getActiveConnections(),
                pool.getIdleConnections(),
                pool.getThreadsAwaitingConnection(),
                config.getMaximumPoolSize());
    }

    @Override
    public Connection getConnection() throws SQLException {
        return getConnection(Duration.ofMillis(config.getConnectionTimeout()));
    }

    @Override
    public Connection getConnection(Duration limit) throws SQLException {
        if (closed) {
            throw new SQLException(pool + " has been closed");
        }
        long deadline = Time.SYSTEM.nanoTime() + limit.toNanos();
        return works ? lend(deadline) : firstConnection(deadline, limit.dividedBy(2));
    }

    /** Waits in two halves. A pool that is spoiled then is replaced between them. */
    private Connection firstConnection(long deadline, Duration half) throws SQLException {
        HikariPool current = pool;
        Connection connection;
        try {
            connection = lend(deadline - half.toNanos());
        } catch (SQLException ex) {
            if (isSpoiled(ex)) {
                replace(current);
            }
            connection = lend(deadline);
        }
        works = true;
        return connection;
    }

    /**
     * Lends a connection until then. HikariCP tests an idle one, one after the other while they are dead, and sees
     * neither an interrupt nor the end of the time meanwhile. So it is asked for one idle connection at a time.
     */
    private Connection lend(long deadline) throws SQLException {
        SQLException reason = null;
        while (true) {
            if (Thread.currentThread().isInterrupted()) {
                throw new SQLException("Interrupted while waiting for a connection", new InterruptedException());
            }
            HikariPool current = pool;
            long left = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - Time.SYSTEM.nanoTime()));
            try {
                return current.getConnection(current.getIdleConnections() > 0 ? 1 : left);
            } catch (SQLTransientConnectionException ex) {
                // HikariCP tells only once why it could not connect.
                reason = reason == null || ex.getCause() != null ? ex : reason;
                if (left <= 1) {
                    throw reason;
                }
            }
        }
    }

    private static boolean isSpoiled(SQLException error) {
        return NestedExceptionUtils.getMostSpecificCause(error) instanceof SQLException cause
                && FEATURE_NOT_SUPPORTED.equals(cause.getSQLState());
    }

    private void replace(HikariPool spoiled) {
        synchronized (this) {
            if (pool != spoiled || closed) {
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

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        shutDown(pool);
    }

    /**
     * HikariCP may leave a connection that comes back while it ends, so it ends when all are back, or after {@link
     * #LONGEST_USE_NANOS}.
     */
    private static void shutDown(HikariPool pool) {
        long end = Time.SYSTEM.nanoTime() + LONGEST_USE_NANOS;
        uninterrupted(() -> {
            while (pool.getActiveConnections() > 0 && Time.SYSTEM.nanoTime() < end) {
                Time.SYSTEM.sleep(LOOK_NANOS);
            }
            pool.shutdown();
        });
    }

    /** An interrupted HikariCP leaves threads and connections, so the work begins again after each interrupt. */
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
