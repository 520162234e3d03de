package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.fencing.FenceSchema;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@Timeout(120)
class FencingAutoConfigurationTests {

    private static final String ENABLED = "syncguard.fencing.enabled=true";

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void without_the_property_there_is_neither_guard_nor_table() {
        Applications.on(database.url()).run(application -> {
            assertThat(application).hasNotFailed().doesNotHaveBean(FenceGuard.class);
            assertThat(database.relationsAndFunctions()).doesNotContain("syncguard_fences");
        });
    }

    @Test
    void with_the_property_the_library_makes_the_table() {
        Applications.on(database.url()).withPropertyValues(ENABLED).run(this::assertChecks);
        Applications.on(database.url()).withPropertyValues(ENABLED).run(this::assertChecks);
    }

    @Test
    void the_table_may_be_in_another_schema_under_another_name() {
        database.jdbc().execute("CREATE SCHEMA accounting");

        Applications.on(database.url())
                .withPropertyValues(ENABLED, "syncguard.fencing.table=accounting.seen")
                .run(application -> {
                    assertChecks(application);
                    assertThat(database.jdbc().queryForObject("SELECT fence FROM accounting.seen", Long.class))
                            .isEqualTo(5);
                });
    }

    @Test
    void a_name_that_is_no_plain_identifier_fails_the_start() {
        Applications.on(database.url())
                .withPropertyValues(ENABLED, "syncguard.fencing.table=fences; DROP TABLE x")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("syncguard.fencing.table"));
    }

    @Test
    void flyway_makes_the_table_where_the_application_has_one() {
        Applications.withFlyway(database.url()).withPropertyValues(ENABLED).run(application -> {
            assertChecks(application);
            assertThat(migrations()).contains("R__syncguard_fences.sql", "R__syncguard_schema.sql", "V1__orders.sql");
        });
    }

    @Test
    void flyway_does_not_know_the_script_unless_the_guard_is_enabled() {
        Applications.withFlyway(database.url()).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(migrations()).doesNotContain("R__syncguard_fences.sql");
        });
    }

    @Test
    void initialize_leaves_an_applications_flyway_alone() {
        Applications.withFlyway(database.url())
                .withPropertyValues(ENABLED, "syncguard.fencing.schema-management=initialize")
                .run(application -> {
                    assertChecks(application);
                    assertThat(migrations()).doesNotContain("R__syncguard_fences.sql");
                });
    }

    @Test
    void none_fails_the_start_while_the_table_is_missing() {
        ApplicationContextRunner runner =
                Applications.on(database.url()).withPropertyValues(ENABLED, "syncguard.fencing.schema-management=none");
        runner.run(application ->
                assertThat(application).getFailure().rootCause().hasMessageContaining("syncguard_fences"));
        runner.run(application ->
                assertThat(application).getFailure().hasStackTraceContaining("syncguard.fencing.schema-management"));

        new FenceSchema(PostgresServer.dataSource(database.url()), FenceGuard.DEFAULT_TABLE).initialize();

        runner.run(this::assertChecks);
    }

    @Test
    void a_role_that_may_make_nothing_starts_where_the_table_exists() {
        Applications.on(database.url())
                .withPropertyValues(ENABLED)
                .run(first -> assertThat(first).hasNotFailed());
        String role = database.newRole();
        database.jdbc().execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        database.jdbc().execute("GRANT SELECT, INSERT, UPDATE ON syncguard_fences TO " + role);

        Applications.on(database.url())
                .withPropertyValues(ENABLED, "syncguard.enabled=false")
                .withPropertyValues(database.loginOf(role))
                .run(this::assertChecks);
    }

    @Test
    void it_works_on_mariadb_without_any_lock_and_by_flyway() {
        String url = MariaDbServer.newDatabaseUrl();

        Applications.withFlyway(url)
                .withPropertyValues(ENABLED, "syncguard.enabled=false", "spring.flyway.locations=classpath:db/none")
                .run(application -> {
                    assertChecks(application);
                    assertThat(application).doesNotHaveBean(LockBackend.class);
                    assertThat(new JdbcTemplate(application.getBean(DataSource.class))
                                    .queryForList("SELECT script FROM flyway_schema_history", String.class))
                            .contains("R__syncguard_fences.sql");
                });
        Applications.on(url)
                .withPropertyValues(ENABLED, "syncguard.enabled=false")
                .run(this::assertChecks);
    }

    @Test
    void it_works_on_h2_without_any_lock() {
        String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

        Applications.withFlyway(url)
                .withPropertyValues(ENABLED, "syncguard.enabled=false", "spring.flyway.locations=classpath:db/none")
                .run(this::assertChecks);
        Applications.on(url)
                .withClassLoader(new FilteredClassLoader(Flyway.class))
                .withPropertyValues(ENABLED, "syncguard.enabled=false")
                .run(this::assertChecks);
    }

    @Test
    void a_guard_of_the_application_replaces_it() {
        DataSource other = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
        FenceGuard own = new FenceGuard(other);

        Applications.on(database.url())
                .withPropertyValues(ENABLED)
                .withBean("ledgerFences", FenceGuard.class, () -> own)
                .run(application -> {
                    assertThat(application.getBean(FenceGuard.class)).isSameAs(own);
                    assertThat(database.relationsAndFunctions()).doesNotContain("syncguard_fences");
                });
    }

    @Test
    void without_a_data_source_the_start_fails_with_the_next_step() {
        Applications.withoutBoot()
                .withPropertyValues(ENABLED, "syncguard.enabled=false")
                .run(application ->
                        assertThat(application).getFailure().rootCause().hasMessageContaining("spring.datasource.url"));
    }

    @Test
    void instances_that_start_together_make_one_table() throws Exception {
        for (String url : List.of(database.url(), MariaDbServer.newDatabaseUrl())) {
            DataSource dataSource = new DriverManagerDataSource(url);
            ExecutorService instances = Executors.newFixedThreadPool(8);
            for (int round = 0; round < 5; round++) {
                String table = "fences_" + round;
                CyclicBarrier together = new CyclicBarrier(8);
                List<Future<?>> starts = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    starts.add(instances.submit(() -> {
                        together.await(60, TimeUnit.SECONDS);
                        new FenceSchema(dataSource, table).initialize();
                        return null;
                    }));
                }
                for (Future<?> start : starts) {
                    start.get(60, TimeUnit.SECONDS);
                }
            }
            instances.shutdown();
        }
    }

    private void assertChecks(AssertableApplicationContext application) {
        assertThat(application).hasNotFailed();
        FenceGuard fences = application.getBean(FenceGuard.class);
        TransactionTemplate transaction =
                new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        transaction.executeWithoutResult(status -> fences.check("order:42", new Fence(5)));
        assertThat(transaction.<LockErrorCode>execute(status -> {
                    status.setRollbackOnly();
                    try {
                        fences.check("order:42", new Fence(4));
                        return null;
                    } catch (LockException ex) {
                        return ex.code();
                    }
                }))
                .isEqualTo(LockErrorCode.LOST);
    }

    private List<String> migrations() {
        return database.jdbc().queryForList("SELECT script FROM flyway_schema_history WHERE success", String.class);
    }
}
