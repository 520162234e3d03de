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
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
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

    private static final String FLYWAY = "syncguard.fencing.schema-management=flyway";

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
    void flyway_makes_the_table_where_it_is_asked_for() {
        Applications.withFlyway(database.url())
                .withPropertyValues(ENABLED, FLYWAY)
                .run(application -> {
                    assertChecks(application);
                    assertThat(migrations()).contains("R__syncguard_fences.sql", "V1__orders.sql");
                });
    }

    @Test
    void flyway_does_not_know_the_script_unless_the_guard_is_enabled() {
        Applications.withFlyway(database.url()).withPropertyValues(FLYWAY).run(application -> {
            assertThat(application).hasNotFailed();
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
                .withPropertyValues(
                        ENABLED, FLYWAY, "syncguard.enabled=false", "spring.flyway.locations=classpath:db/none")
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
                .withPropertyValues(
                        ENABLED, FLYWAY, "syncguard.enabled=false", "spring.flyway.locations=classpath:db/none")
                .run(this::assertChecks);
        Applications.on(url)
                .withClassLoader(new FilteredClassLoader(Flyway.class))
                .withPropertyValues(ENABLED, "syncguard.enabled=false")
                .run(this::assertChecks);
    }

    static Stream<Arguments> uselessTables() {
        return Stream.of(
                Arguments.of("no unique index", "CREATE TABLE syncguard_fences (resource TEXT, fence BIGINT)"),
                Arguments.of("an index for some rows", """
                        CREATE TABLE syncguard_fences (resource TEXT, fence BIGINT);
                        CREATE UNIQUE INDEX ON syncguard_fences (resource) WHERE fence > 0"""),
                Arguments.of("an index of two columns", """
                        CREATE TABLE syncguard_fences (resource TEXT, fence BIGINT, UNIQUE (resource, fence))"""),
                Arguments.of("a constraint that is checked later", """
                        CREATE TABLE syncguard_fences (resource TEXT UNIQUE DEFERRABLE, fence BIGINT)"""),
                Arguments.of("an index that is not valid", """
                        CREATE TABLE syncguard_fences (resource TEXT UNIQUE, fence BIGINT);
                        UPDATE pg_index SET indisvalid = false WHERE indrelid = 'syncguard_fences'::regclass"""),
                Arguments.of("a view", """
                        CREATE TABLE seen (resource TEXT, fence BIGINT);
                        CREATE VIEW syncguard_fences AS TABLE seen"""),
                Arguments.of("other columns", "CREATE TABLE syncguard_fences (resource TEXT PRIMARY KEY)"),
                Arguments.of("a rule that drops what is inserted", """
                        CREATE TABLE syncguard_fences (resource TEXT PRIMARY KEY, fence BIGINT);
                        CREATE RULE nothing AS ON INSERT TO syncguard_fences DO INSTEAD NOTHING"""));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("uselessTables")
    void a_table_that_cannot_refuse_a_smaller_fence_fails_the_start(String name, String statements) {
        database.jdbc().execute(statements);

        Applications.on(database.url())
                .withPropertyValues(ENABLED)
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasStackTraceContaining("The table of the fences, 'syncguard_fences', "));
    }

    @Test
    void a_view_on_a_proper_table_works() {
        database.jdbc().execute("""
                CREATE TABLE seen (resource TEXT PRIMARY KEY, fence BIGINT NOT NULL);
                CREATE VIEW syncguard_fences AS TABLE seen""");

        Applications.on(database.url()).withPropertyValues(ENABLED).run(this::assertChecks);
    }

    @Tag("verification")
    @Test
    void a_table_without_a_unique_index_fails_the_start_on_other_databases_too() {
        for (String url : List.of(
                MariaDbServer.newDatabaseUrl(),
                "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;USER=sa;PASSWORD=")) {
            new JdbcTemplate(new DriverManagerDataSource(url))
                    .execute("CREATE TABLE syncguard_fences (resource VARBINARY(512), fence BIGINT)"
                            .replace("VARBINARY", url.contains("h2") ? "VARCHAR" : "VARBINARY"));

            Applications.on(url)
                    .withPropertyValues(ENABLED, "syncguard.enabled=false")
                    .run(application -> assertThat(application)
                            .getFailure()
                            .rootCause()
                            .hasMessageContaining("has no unique index on its column resource"));
        }
    }

    @Test
    void a_constraint_that_is_checked_later_is_named() {
        database.jdbc().execute("CREATE TABLE syncguard_fences (resource TEXT UNIQUE DEFERRABLE, fence BIGINT)");

        assertRefused(database.url(), "syncguard_fences", "has no unique index on its column resource");
    }

    @Test
    void a_column_that_is_too_small_for_fences_of_the_clock_fails_the_start() {
        for (String url : urls()) {
            new JdbcTemplate(new DriverManagerDataSource(url))
                    .execute("CREATE TABLE seen (resource VARCHAR(512) PRIMARY KEY, fence INTEGER)");

            assertRefused(url, "seen", "does not take the largest fence");
        }
    }

    @Test
    void a_reserved_word_is_named() {
        assertRefused(database.url(), "order", "no reserved word");
        assertRefused(h2(), "value", "no reserved word");
        assertRefused(MariaDbServer.newDatabaseUrl(), "key", "no reserved word");
    }

    private static void assertRefused(String url, String table, String words) {
        Applications.on(url)
                .withPropertyValues(ENABLED, "syncguard.enabled=false", "syncguard.fencing.table=" + table)
                .run(application -> assertThat(application).getFailure().hasStackTraceContaining(words));
    }

    private List<String> urls() {
        return List.of(database.url(), MariaDbServer.newDatabaseUrl(), h2());
    }

    private static String h2() {
        return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;USER=sa;PASSWORD=";
    }

    @Test
    void the_check_at_the_start_leaves_nothing() {
        Applications.on(database.url())
                .withPropertyValues(ENABLED)
                .run(application -> assertThat(
                                database.jdbc().queryForObject("SELECT count(*) FROM syncguard_fences", Long.class))
                        .isZero());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncguard_locks",
                "SyncGuard_Locks",
                "public.syncguard_locks",
                "syncguard_locks_shared",
                "syncguard_locks_waiters",
                "syncguard_fence_counters",
                "pg_fences"
            })
    void a_table_of_the_locks_or_of_postgresql_fails_the_start(String table) {
        Applications.on(database.url())
                .withPropertyValues(ENABLED, "syncguard.fencing.table=" + table)
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("syncguard.fencing.table is '" + table + "', "));
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
