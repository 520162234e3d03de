package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;

/**
 * The library's own connections, made from the connection details of the application's {@code DataSource}: a few for lock
 * operations and one for heartbeats. An application that has used up its pool cannot starve them, and callers in the queue
 * of a key cannot starve the heartbeat.
 */
final class PostgresPools implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PostgresPools.class);

    /** The pool accepts no shorter time to wait for a connection, in milliseconds. */
    private static final long SHORTEST_WAIT_MILLIS = 250;

    private final Duration timeout;
    private final HikariDataSource operations;
    private final HikariDataSource heartbeats;

    /**
     * @param networkTimeout is divided evenly: one half to wait for a connection, one for the server's answer
     */
    PostgresPools(DataSource application, int size, Duration networkTimeout) {
        if (size < 1 || networkTimeout.compareTo(Duration.ofMillis(2 * SHORTEST_WAIT_MILLIS)) < 0) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.postgres.pool-size has to be at least 1 and network-timeout at least "
                            + 2 * SHORTEST_WAIT_MILLIS + " ms, not " + size + " and " + networkTimeout);
        }
        this.timeout = networkTimeout.dividedBy(2);
        HikariConfig details = detailsOf(application);
        this.operations = pool(details, "syncguard", size);
        this.heartbeats = pool(details, "syncguard-heartbeat", 1);
    }

    DataSource operations() {
        return operations;
    }

    DataSource heartbeats() {
        return heartbeats;
    }

    /** How long the server may take to answer. */
    Duration timeout() {
        return timeout;
    }

    @Override
    public void close() {
        operations.close();
        heartbeats.close();
    }

    private static HikariConfig detailsOf(DataSource application) {
        HikariConfig details = new HikariConfig();
        HikariDataSource hikari =
                DataSourceUnwrapper.unwrap(application, HikariConfigMXBean.class, HikariDataSource.class);
        if (hikari != null) {
            hikari.copyStateTo(details);
            details.setMetricsTrackerFactory(null);
            details.setHealthCheckRegistry(null);
            return details;
        }
        DataSourceBuilder.derivedFrom(application)
                .type(HikariDataSource.class)
                .build()
                .copyStateTo(details);
        if (details.getJdbcUrl() == null) {
            log.warn(
                    "The connection details of " + application.getClass().getName() + " cannot be read: SyncGuard takes"
                            + " its connections out of that DataSource for good. If that is a pool, give SyncGuard a DataSource of"
                            + " its own with @SyncGuardDataSource");
            details.setDataSource(application);
        }
        return details;
    }

    private HikariDataSource pool(HikariConfig details, String name, int size) {
        HikariConfig config = new HikariConfig();
        details.copyStateTo(config);
        config.setPoolName(name);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(Math.max(SHORTEST_WAIT_MILLIS, timeout.toMillis()));
        config.setValidationTimeout(Math.max(SHORTEST_WAIT_MILLIS, timeout.toMillis()));
        // The first statement, which sets up the schema, says better what is wrong than a pool that cannot be filled.
        config.setInitializationFailTimeout(-1);
        config.setAutoCommit(true);
        config.setReadOnly(false);
        config.setTransactionIsolation(null);
        config.setConnectionInitSql(sessionSettings());
        config.setRegisterMbeans(false);
        if (config.getDataSource() == null) {
            // A server that went away without a word must not hold a connection attempt or an idle connection for ever.
            String seconds = String.valueOf(Math.max(1, timeout.toSeconds()));
            config.addDataSourceProperty("connectTimeout", seconds);
            config.addDataSourceProperty("loginTimeout", seconds);
            config.addDataSourceProperty("socketTimeout", seconds);
            config.addDataSourceProperty("tcpKeepAlive", "true");
        }
        return new HikariDataSource(config);
    }

    /**
     * What the defaults of a role or database could spoil. The server gives up a little earlier than the client, whose way of
     * giving up costs a connection. Sequential scans are off because a plan that was made while the tables were empty stays
     * in use while they grow.
     */
    private String sessionSettings() {
        return """
                SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
                SET synchronous_commit = on;
                SET statement_timeout = %d;
                SET lock_timeout = %d;
                SET enable_seqscan = off
                """.formatted(timeout.toMillis() * 9 / 10, timeout.toMillis() * 8 / 10);
    }
}
