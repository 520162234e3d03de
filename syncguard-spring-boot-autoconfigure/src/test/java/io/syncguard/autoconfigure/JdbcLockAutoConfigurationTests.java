package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.portable.PortableLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.MariaDbServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Locks in tables of a database that is not PostgreSQL. */
class JdbcLockAutoConfigurationTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").ttl(Duration.ofSeconds(30));

    private final String mariaDb = MariaDbServer.newDatabaseUrl();

    @Test
    void the_store_is_chosen_by_the_database_of_the_data_source() {
        Applications.on(mariaDb).run(application -> {
            assertLocksInTables(application);
            assertThat(application
                            .getBean(JdbcTemplate.class)
                            .queryForObject("SELECT COUNT(*) FROM syncguard_leases", Long.class))
                    .isZero();
        });
    }

    @Test
    void it_needs_no_driver_of_postgresql() {
        Applications.on(h2())
                .withClassLoader(new FilteredClassLoader("org.postgresql"))
                .run(JdbcLockAutoConfigurationTests::assertLocksInTables);
    }

    @Test
    void a_data_source_that_does_not_reveal_its_url_is_asked_for_its_product() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setUrl(h2());

        Applications.withoutDatabase()
                .withBean(DataSource.class, () -> new DelegatingDataSource(h2) {})
                .run(JdbcLockAutoConfigurationTests::assertLocksInTables);
    }

    @Test
    void two_applications_on_one_database_exclude_each_other() {
        Applications.on(mariaDb)
                .run(one -> Applications.on(mariaDb).run(other -> {
                    LockHandle held = one.getBean(LockManager.class).acquire(ORDER);

                    assertThat(other.getBean(LockManager.class).tryAcquire(ORDER))
                            .isNull();
                    held.release();
                    assertThat(other.getBean(LockManager.class).tryAcquire(ORDER))
                            .isNotNull();
                }));
    }

    @Test
    void the_name_chooses_it_and_its_tables_have_the_prefix() {
        Applications.on(mariaDb)
                .withPropertyValues("syncguard.backend=jdbc", "syncguard.jdbc.table-prefix=shop_")
                .run(application -> {
                    assertLocksInTables(application);
                    assertThat(application
                                    .getBean(JdbcTemplate.class)
                                    .queryForObject("SELECT COUNT(*) FROM shop_keys", Long.class))
                            .isEqualTo(1);
                });
    }

    @Test
    void flyway_runs_the_script_if_that_is_chosen() {
        Applications.withFlyway(mariaDb)
                .withPropertyValues(
                        "spring.flyway.locations=classpath:db/none",
                        "spring.flyway.fail-on-missing-locations=false",
                        "syncguard.jdbc.schema-management=flyway")
                .run(application -> {
                    assertLocksInTables(application);
                    assertThat(application
                                    .getBean(JdbcTemplate.class)
                                    .queryForList("SELECT script FROM flyway_schema_history", String.class))
                            .contains("R__syncguard_schema.sql");
                });
    }

    @Test
    void tables_of_an_administrator_are_only_checked(@TempDir Path directory) {
        Path script = directory.resolve("syncguard.sql");
        ApplicationContextRunner application =
                Applications.on(mariaDb).withPropertyValues("syncguard.jdbc.schema-management=none");

        application
                .withPropertyValues("syncguard.jdbc.schema-script=" + script)
                .run(refused -> assertThat(refused).hasFailed());
        JdbcTemplate administrator = new JdbcTemplate(new DriverManagerDataSource(mariaDb));
        Stream.of(read(script).replaceAll("(?m)^ *--.*$", "").split(";"))
                .filter(statement -> !statement.isBlank())
                .forEach(administrator::execute);

        application.run(JdbcLockAutoConfigurationTests::assertLocksInTables);
    }

    @Test
    void tenants_have_managers_on_databases_of_any_product() {
        Applications.on(mariaDb).run(application -> {
            JdbcDataSource tenant = new JdbcDataSource();
            tenant.setUrl(h2());

            LockManager locks = application.getBean(JdbcLockManagers.class).create("tenant", tenant);

            LockHandle held = locks.acquire(ORDER);

            assertThat(application.getBean(LockManager.class).tryAcquire(ORDER)).isNotNull();
            held.release();
        });
    }

    private static void assertLocksInTables(ApplicationContext application) {
        assertThat(application.getBean(LockBackend.class)).isInstanceOf(PortableLockBackend.class);
        LockManager locks = application.getBean(LockManager.class);
        LockHandle held = locks.acquire(ORDER);
        assertThat(locks.isLocked("order:1")).isTrue();
        held.release();
        assertThat(locks.isLocked("order:1")).isFalse();
    }

    private static String h2() {
        return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
