package io.syncguard.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;

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
        Duration timeout = networkTimeout.dividedBy(2);
        HikariDataSource operations = pool(url, callers, timeout);
        HikariDataSource engine = pool(url, ENGINE_THREADS, timeout);
        new PostgresSchema(operations, PostgresTables.DEFAULT).initialize();
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
