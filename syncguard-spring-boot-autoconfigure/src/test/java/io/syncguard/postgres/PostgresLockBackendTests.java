package io.syncguard.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.LockBackend;
import io.syncguard.core.LockBackendContract;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.jdbc.core.JdbcTemplate;

class PostgresLockBackendTests extends LockBackendContract {

    private static HikariDataSource dataSource;
    private static JdbcTemplate jdbc;

    @BeforeAll
    static void createSchema() {
        dataSource = new HikariDataSource();
        dataSource.setJdbcUrl(PostgresServer.newDatabaseUrl());
        dataSource.setMaximumPoolSize(16);
        jdbc = new JdbcTemplate(dataSource);
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
    }

    @AfterAll
    static void closeConnections() {
        dataSource.close();
    }

    @BeforeEach
    void emptyTables() {
        jdbc.execute("TRUNCATE syncguard_locks, syncguard_fence_counters");
    }

    @Override
    protected LockBackend newBackend() {
        return new PostgresLockBackend(
                dataSource,
                dataSource,
                dataSource,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.PLACE_TTL,
                        Duration.ZERO,
                        false),
                () -> {});
    }

    @Override
    protected void expire(String key) {
        jdbc.update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000 WHERE key = ?", key);
    }

    @Override
    protected long storedFence(String key) {
        return jdbc
                .queryForList("SELECT fence FROM syncguard_fence_counters WHERE key_debug = ?", Long.class, key)
                .stream()
                .findFirst()
                .orElse(0L);
    }
}
