package io.syncguard.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.CountingDataSource;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** One process on a database of its own, and the number of connections that it asked for. */
final class CountedPostgres implements AutoCloseable {

    private final HikariDataSource pool = new HikariDataSource();

    /** Access to the database without the library. */
    final JdbcTemplate jdbc = new JdbcTemplate(pool);

    final CountingDataSource connections = new CountingDataSource(pool);

    CountedPostgres() {
        pool.setJdbcUrl(PostgresServer.newDatabaseUrl());
        pool.setMaximumPoolSize(4);
    }

    /** Creates a database with the tables and functions under their default names. */
    static CountedPostgres withSchema() {
        CountedPostgres postgres = new CountedPostgres();
        postgres.initialize(PostgresTables.DEFAULT);
        return postgres;
    }

    void initialize(PostgresTables tables) {
        new PostgresSchema(pool, tables).initialize();
    }

    StoreCalls backend(PostgresTables tables) {
        return new StoreCalls(new PostgresLockBackend(
                connections,
                connections,
                null,
                new PostgresSettings(
                        tables,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {}));
    }

    /** The next backend gets sessions that no other one has set up. */
    void newSessions() {
        pool.getHikariPoolMXBean().softEvictConnections();
    }

    /** Returns a lock manager. It releases held locks at once when it is closed. */
    LockEngine locks() {
        EngineSettings settings = new EngineSettings(
                "test",
                Duration.ofMinutes(1),
                Duration.ZERO,
                Duration.ofMillis(1),
                Duration.ofMillis(1),
                Duration.ZERO,
                Duration.ZERO,
                Map.of());
        return new LockEngine(backend(PostgresTables.DEFAULT), settings, TransactionBoundary.NONE, List.of());
    }

    @Override
    public void close() {
        pool.close();
    }
}
