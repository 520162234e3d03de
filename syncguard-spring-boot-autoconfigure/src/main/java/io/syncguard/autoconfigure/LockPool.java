package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.pool.HikariPool;
import io.syncguard.postgres.PooledDataSource;
import io.syncguard.spi.PoolStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * A HikariCP pool without {@code HikariDataSource}, which logs four lines at info for each pool. A logger's level would
 * silence the application's own pools as well.
 */
final class LockPool extends AbstractDataSource implements PooledDataSource, AutoCloseable {

    private final HikariConfig config;
    private final HikariPool pool;

    /** After its end, HikariPool itself would let a caller wait for a connection that never comes. */
    private final AtomicBoolean closed = new AtomicBoolean();

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
        if (closed.get()) {
            throw new SQLException(pool + " has been closed");
        }
        return pool.getConnection();
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        try {
            pool.shutdown();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
