package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.LockTemplate;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

class LockConnectionsTests {

    private final TestDatabase database = TestDatabase.withSchema();
    private LockAudit audit;

    @BeforeEach
    void watchLocks() {
        audit = new LockAudit(database);
    }

    @Test
    void the_pool_of_the_application_is_left_as_it_is() {
        Applications.on(database.url())
                .withPropertyValues("spring.datasource.hikari.data-source-properties.tcpKeepAlive=false")
                .run(application -> {
                    HikariDataSource pool = application.getBean(HikariDataSource.class);
                    assertThat(pool.getDataSourceProperties()).hasToString("{tcpKeepAlive=false}");
                    assertThat(pool.getConnectionInitSql()).isNull();
                    assertThat(pool.getMaximumPoolSize()).isEqualTo(2);
                    assertThat(application
                                    .getBean(JdbcTemplate.class)
                                    .queryForObject("SHOW statement_timeout", String.class))
                            .isEqualTo("0");
                });
    }

    @ParameterizedTest
    @CsvSource({"true, 14", "false, 13"})
    void the_start_names_the_most_connections_that_all_pools_take_together(boolean wakeUps, int connections) {
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            Applications.on(database.url())
                    .withPropertyValues("syncguard.postgres.pool-size=3", "syncguard.postgres.notify=" + wakeUps)
                    .run(application -> assertThat(log.messages())
                            .contains(
                                    "SyncGuard keeps its locks in the table 'syncguard_locks' of PostgreSQL, on up to "
                                            + connections + " connections of its own"));
        }
    }

    @Test
    void a_statement_of_the_application_may_take_longer_than_the_network_timeout_of_the_locks() {
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.network-timeout=500ms")
                .run(application -> assertThat(application
                                .getBean(JdbcTemplate.class)
                                .queryForObject("SELECT 1 FROM pg_sleep(1.2)", Integer.class))
                        .isEqualTo(1));
    }

    @Test
    void settings_of_the_applications_pool_do_not_spoil_ours() {
        Applications.on(database.url())
                .withPropertyValues(
                        "spring.datasource.hikari.auto-commit=false",
                        "spring.datasource.hikari.read-only=true",
                        "spring.datasource.hikari.transaction-isolation=TRANSACTION_SERIALIZABLE",
                        "spring.datasource.hikari.register-mbeans=true",
                        "spring.datasource.hikari.minimum-idle=2")
                .run(application -> {
                    lockOnce(application.getBean(LockTemplate.class));
                    assertThat(audit.of("order:1")).hasSize(2).allSatisfy(entry -> {
                        assertThat(entry.isolation()).isEqualTo("read committed");
                        assertThat(entry.readOnly()).isEqualTo("off");
                    });
                });
    }

    @Test
    void what_the_application_runs_on_each_new_connection_runs_on_ours_too() {
        database.jdbc().execute("CREATE SCHEMA shop");
        Applications.on(database.url())
                .withPropertyValues("spring.datasource.hikari.connection-init-sql=SET search_path TO shop")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    application.getBean(LockTemplate.class).execute("order:1", lock -> lock);
                    assertThat(database.jdbc()
                                    .queryForList(
                                            "SELECT relname FROM pg_class WHERE relnamespace ="
                                                    + " 'shop'::regnamespace AND relkind = 'r'",
                                            String.class))
                            .contains("syncguard_locks");
                });
    }

    @Test
    void the_schema_of_the_applications_pool_is_that_of_ours() {
        database.jdbc().execute("CREATE SCHEMA shop");
        Applications.on(database.url())
                .withPropertyValues("spring.datasource.hikari.schema=shop")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(database.jdbc()
                                    .queryForObject(
                                            "SELECT to_regclass('shop.syncguard_locks') IS NOT NULL", Boolean.class))
                            .isTrue();
                });
    }

    @Test
    void a_pool_with_a_registry_for_its_meters_works() {
        assertLocksWith(pool -> pool.setMetricRegistry(new SimpleMeterRegistry()));
    }

    @Test
    void a_pool_over_a_data_source_of_the_driver_works() {
        assertLocksWith(pool -> {
            pool.setJdbcUrl(null);
            pool.setDataSourceClassName("org.postgresql.ds.PGSimpleDataSource");
            pool.addDataSourceProperty("url", database.url());
        });
    }

    @Test
    void lock_connections_are_ended_by_a_silent_server_and_are_few() {
        Applications.on(database.url()).run(application -> {
            lockOnce(application.getBean(LockTemplate.class));
            List<LockAudit.Entry> entries = audit.of("order:1");
            assertThat(entries).extracting(LockAudit.Entry::statementTimeout).containsOnly("2250ms");
            assertThat(entries).extracting(LockAudit.Entry::lockTimeout).containsOnly("2s");
            // One for heartbeats and one for operations, which the pool may double while it is in use. The sessions
            // that the test itself used end one by one.
            Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> database.sessions() <= 3);
        });
    }

    private void assertLocksWith(Consumer<HikariConfig> settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(1);
        settings.accept(config);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Applications.withoutDatabase()
                    .withBean(DataSource.class, () -> pool)
                    .run(application -> {
                        assertThat(application).hasNotFailed();
                        lockOnce(application.getBean(LockTemplate.class));
                        assertThat(audit.of("order:1")).hasSize(2);
                    });
        }
    }

    private static void lockOnce(LockTemplate locks) {
        locks.execute("order:1", lock -> lock);
    }
}
