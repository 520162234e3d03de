package io.syncguard.jdbc;

import io.syncguard.spi.PoolStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** A connection pool that reports how its connections are used. */
public interface PooledDataSource extends DataSource {

    PoolStatus status();

    /**
     * Lends a connection. An interrupt ends the wait for one.
     *
     * @param limit maximum wait of the caller; half a second longer if the pool has to test a connection
     */
    Connection getConnection(Duration limit) throws SQLException;

    /**
     * Lends a connection of any {@code DataSource}.
     *
     * @param limit maximum wait of the caller, if it is a pool of the library
     */
    static Connection lend(DataSource source, Duration limit) throws SQLException {
        return source instanceof PooledDataSource pool ? pool.getConnection(limit) : source.getConnection();
    }

    /** Closes all connections. The next request opens one. */
    void disconnect();

    /** Opens the connections again that always stay open, without waiting for them. */
    void reconnect();
}
