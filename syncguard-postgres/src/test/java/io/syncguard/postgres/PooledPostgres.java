package io.syncguard.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Opens the store on pools of its own for callers and for the engine, as an application has them. */
final class PooledPostgres {

    private static final int ENGINE_THREADS = 10;

    private PooledPostgres() {}

    /** Creates the schema, and a backend with the default settings. */
    static StoreCalls on(String url) {
        return on(url, 8, Duration.ofSeconds(5));
    }

    static StoreCalls on(String url, int callers, Duration networkTimeout) {
        return on(url, callers, networkTimeout, PostgresBatching.AUTO);
    }

    /**
     * Creates the schema and a backend.
     *
     * @param callers how many connections callers share
     * @param networkTimeout one half for the wait for a connection, one half for the server's answer
     */
    static StoreCalls on(String url, int callers, Duration networkTimeout, PostgresBatching batching) {
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT).initialize();
        return onReady(url, callers, networkTimeout, batching);
    }

    /** An engine that releases held locks at once when it is closed. Its pool has one connection for callers. */
    static LockEngine engineOnReady(String url, Duration networkTimeout, Duration waitTime) {
        return new LockEngine(
                onReady(url, 1, networkTimeout, PostgresBatching.AUTO),
                new EngineSettings(
                        "test",
                        Duration.ofSeconds(30),
                        waitTime,
                        EngineSettings.FIRST_RETRY,
                        EngineSettings.LONGEST_RETRY,
                        Duration.ZERO,
                        Duration.ZERO,
                        Map.of()),
                TransactionBoundary.NONE,
                List.of());
    }

    /** Creates a backend on a database with the schema. */
    private static StoreCalls onReady(String url, int callers, Duration networkTimeout, PostgresBatching batching) {
        Duration timeout = networkTimeout.dividedBy(2);
        HikariDataSource operations = pool(url, callers, timeout);
        HikariDataSource engine = pool(url, ENGINE_THREADS, timeout);
        return batching.backend(
                operations,
                engine,
                PostgresServer.dataSource(url),
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        timeout,
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {
                    operations.close();
                    engine.close();
                });
    }

    private static HikariDataSource pool(String url, int size, Duration timeout) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(size);
        pool.setMinimumIdle(1);
        pool.setConnectionTimeout(timeout.toMillis());
        pool.addDataSourceProperty("socketTimeout", String.valueOf(Math.max(1, timeout.toSeconds())));
        return pool;
    }
}
