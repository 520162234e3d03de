package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockSetupException;
import io.syncguard.postgres.PromptSocketFactory;
import java.time.Duration;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.UnsupportedDataSourcePropertyException;
import org.springframework.util.ClassUtils;

/**
 * The library's own connections, made from the connection details of the application's {@code DataSource}: some for
 * callers, one for each thread of the engine that sends requests, and one for wake-ups from the first wait on. An
 * application that has used up its pool cannot starve them, and callers cannot starve the heartbeat.
 */
final class PostgresPools implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PostgresPools.class);

    /** The pool accepts no shorter time to wait for a connection, in milliseconds. */
    private static final long SHORTEST_WAIT_MILLIS = 250;

    /**
     * The threads of the engine that send requests: for heartbeats, safety polls and background releases; and the
     * thread that stops the engine.
     */
    private static final int ENGINE_THREADS = 4;

    /**
     * Far more than a lock operation may take, and far less than the server and the driver can count in milliseconds.
     */
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

    /** HikariCP 6, which Spring Boot 3.5 brings, has none. */
    private static final boolean HAS_CREDENTIALS_PROVIDERS =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariCredentialsProvider", HikariConfig.class.getClassLoader());

    private final Duration timeout;
    private final int maximumConnections;
    private final LockPool operations;
    private final LockPool engine;
    private final @Nullable LockPool wakeUps;

    /**
     * @param networkTimeout is divided into two halves: one for the wait for a connection, one for the server's answer
     */
    PostgresPools(DataSource application, int size, boolean wakeUps, Duration networkTimeout) {
        if (size < 1) {
            throw LockSetupException.invalid(
                    "syncguard.postgres.pool-size is " + size + ", but has to be at least 1",
                    "Correct syncguard.postgres.pool-size");
        }
        if (networkTimeout.compareTo(Duration.ofMillis(2 * SHORTEST_WAIT_MILLIS)) < 0
                || networkTimeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw LockSetupException.invalid(
                    "syncguard.postgres.network-timeout is " + networkTimeout + ", but has to be between "
                            + 2 * SHORTEST_WAIT_MILLIS + " ms and " + LONGEST_TIMEOUT.toMinutes() + " min",
                    "Correct syncguard.postgres.network-timeout");
        }
        this.timeout = networkTimeout.dividedBy(2);
        this.maximumConnections = size + ENGINE_THREADS + (wakeUps ? 1 : 0);
        HikariConfig details = detailsOf(application, maximumConnections);
        this.operations = pool(details, "syncguard", size);
        this.engine = pool(details, "syncguard-engine", ENGINE_THREADS);
        this.wakeUps = wakeUps ? wakeUpPool(details) : null;
    }

    DataSource operations() {
        return operations;
    }

    /** One connection for each thread of the engine: none of them waits for another. */
    DataSource engine() {
        return engine;
    }

    /** Opens one connection when it is needed; {@code null} if wake-ups are off. */
    @Nullable
    DataSource wakeUps() {
        return wakeUps;
    }

    int maximumConnections() {
        return maximumConnections;
    }

    /** How long the server may take to answer. */
    Duration timeout() {
        return timeout;
    }

    @Override
    public void close() {
        operations.close();
        engine.close();
        if (wakeUps != null) {
            wakeUps.close();
        }
    }

    private static HikariConfig detailsOf(DataSource application, int connections) {
        HikariDataSource hikari =
                DataSourceUnwrapper.unwrap(application, HikariConfigMXBean.class, HikariDataSource.class);
        HikariConfig details = copyOf(hikari == null ? derivedFrom(application) : hikari);
        if (hikari == null && details.getJdbcUrl() == null) {
            log.warn(
                    "The connection details of " + application.getClass().getName() + " cannot be read: SyncGuard takes"
                            + " its connections, up to " + connections
                            + ", out of that DataSource for good. If that is a pool, give SyncGuard a DataSource of"
                            + " its own with @SyncGuardDataSource");
            details.setDataSource(application);
        }
        return details;
    }

    private static HikariConfig derivedFrom(DataSource application) {
        try {
            return DataSourceBuilder.derivedFrom(application)
                    .type(HikariDataSource.class)
                    .build();
        } catch (UnsupportedDataSourcePropertyException ex) {
            // It has no URL, or does not reveal it.
            return new HikariConfig();
        }
    }

    /**
     * How to connect, and how long a connection may live. Not {@link HikariConfig#copyStateTo}, which shares the
     * driver's properties between the pools: our time limits would become those of the application.
     */
    private static HikariConfig copyOf(HikariConfig pool) {
        HikariConfig details = new HikariConfig();
        details.setDataSource(pool.getDataSource());
        details.setDataSourceClassName(pool.getDataSourceClassName());
        details.setDataSourceJNDI(pool.getDataSourceJNDI());
        details.setDataSourceProperties(pool.getDataSourceProperties());
        details.setJdbcUrl(pool.getJdbcUrl());
        if (pool.getDriverClassName() != null) {
            details.setDriverClassName(pool.getDriverClassName());
        }
        details.setCredentials(pool.getCredentials());
        if (HAS_CREDENTIALS_PROVIDERS) {
            details.setCredentialsProvider(pool.getCredentialsProvider());
        }
        details.setSchema(pool.getSchema());
        details.setConnectionInitSql(pool.getConnectionInitSql());
        details.setMaxLifetime(pool.getMaxLifetime());
        details.setIdleTimeout(pool.getIdleTimeout());
        details.setKeepaliveTime(pool.getKeepaliveTime());
        return details;
    }

    private LockPool pool(HikariConfig details, String name, int size) {
        return new LockPool(config(details, name, size));
    }

    private LockPool wakeUpPool(HikariConfig details) {
        HikariConfig config = config(details, "syncguard-listener", 1);
        config.setMinimumIdle(0);
        if (config.getDataSource() == null
                && !config.getDataSourceProperties().containsKey("socketFactory")
                && driverSees(PromptSocketFactory.class)) {
            // A factory in the URL takes precedence.
            config.addDataSourceProperty("socketFactory", PromptSocketFactory.class.getName());
        }
        return new LockPool(config);
    }

    /** In some containers the driver's class loader does not see the application's classes. */
    private static boolean driverSees(Class<?> type) {
        return ClassUtils.isVisible(type, Driver.class.getClassLoader());
    }

    private HikariConfig config(HikariConfig details, String name, int size) {
        HikariConfig config = copyOf(details);
        config.setPoolName(name);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(timeout.toMillis());
        config.setValidationTimeout(SHORTEST_WAIT_MILLIS);
        // The first statement, which sets up the schema, reports an error more clearly than the pool's own start does.
        config.setInitializationFailTimeout(-1);
        if (config.getDataSource() == null) {
            // A server that disappears silently must not block a connection attempt or an idle connection for ever.
            String seconds = String.valueOf(Math.max(1, timeout.toSeconds()));
            config.addDataSourceProperty("connectTimeout", seconds);
            config.addDataSourceProperty("loginTimeout", seconds);
            config.addDataSourceProperty("socketTimeout", seconds);
            config.addDataSourceProperty("tcpKeepAlive", "true");
        }
        return config;
    }
}
