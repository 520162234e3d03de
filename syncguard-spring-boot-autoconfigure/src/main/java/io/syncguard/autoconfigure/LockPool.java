package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.pool.HikariPool;
import io.syncguard.concurrent.Shielded;
import io.syncguard.postgres.PooledDataSource;
import io.syncguard.spi.PoolStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
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
        if (closed) {
            throw new SQLException(pool + " has been closed");
        }
        return works ? pool.getConnection() : firstConnection();
    }

    /** Waits in two halves. A pool that is spoiled then is replaced between them. */
    private Connection firstConnection() throws SQLException {
        long half = config.getConnectionTimeout() / 2;
        HikariPool current = pool;
        Connection connection;
        try {
            connection = current.getConnection(half);
        } catch (SQLException ex) {
            if (isSpoiled(ex)) {
                replace(current);
            }
            connection = pool.getConnection(half);
        }
        works = true;
        return connection;
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

    /** On an interrupted thread, HikariCP would leave its threads and connections. */
    private static void shutDown(HikariPool pool) {
        Shielded.uninterrupted(() -> {
            try {
                pool.shutdown();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        });
    }
}
