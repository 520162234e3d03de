package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockTemplate;
import io.syncguard.postgres.PostgresScript;
import jakarta.annotation.PostConstruct;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.flyway.autoconfigure.FlywayConfigurationCustomizer;
import org.springframework.boot.flyway.autoconfigure.FlywayMigrationStrategy;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** With {@code schema-management=flyway}. {@link MigrationHistoryTests} has the default. */
class FlywaySchemaTests {

    private static final String SCRIPT = "R__syncguard_schema.sql";

    private static final String FLYWAY = "syncguard.postgres.schema-management=flyway";

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void an_applications_flyway_is_left_alone() {
        TestDatabase database = TestDatabase.withSchema();

        Applications.withFlyway(database.url())
                .withPropertyValues(
                        "syncguard.postgres.schema-management=none",
                        "spring.flyway.baseline-on-migrate=true",
                        "spring.flyway.baseline-version=0")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(database.jdbc().queryForList("SELECT script FROM flyway_schema_history", String.class))
                            .contains("V1__orders.sql")
                            .doesNotContain("R__syncguard_schema.sql");
                });
    }

    @Test
    void the_script_runs_beside_the_applications_own_migrations() {
        onDatabase().run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(migrations()).containsExactlyInAnyOrder("V1__orders.sql", SCRIPT);
            assertThat(database.relationsAndFunctions())
                    .contains("orders", "syncguard_locks", "syncguard_fence_counters");
            assertThat(locksAnything(application.getBean(LockTemplate.class))).isTrue();
        });
    }

    @Test
    void nothing_runs_behind_the_back_of_flyway() {
        recordWhatIsMade();

        onDatabase().run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(database.jdbc()
                            .queryForList(
                                    "SELECT pid FROM watch.statements WHERE identity = 'public.syncguard_locks_now()'",
                                    Integer.class))
                    .hasSize(1)
                    .isEqualTo(database.jdbc()
                            .queryForList(
                                    "SELECT DISTINCT pid FROM watch.statements WHERE identity LIKE '%syncguard%'",
                                    Integer.class));
        });
    }

    @Test
    void the_user_of_the_locks_needs_no_right_to_make_tables() {
        String role = database.newRole();
        database.jdbc().execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        database.jdbc()
                .execute("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "
                        + role);

        onDatabase()
                .withPropertyValues(database.loginOf(role))
                .withPropertyValues("spring.flyway.url=" + database.url())
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(locksAnything(application.getBean(LockTemplate.class)))
                            .isTrue();
                });
    }

    @Test
    void the_tables_exist_before_any_bean_locks() {
        onDatabase().withUserConfiguration(LocksAtItsStart.class).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(application.getBean(Eager.class).locked).isTrue();
        });
    }

    @Test
    void table_names_arrive_as_placeholders_beside_the_applications_own() {
        onDatabase()
                .withPropertyValues(
                        "syncguard.postgres.locks-table=my_locks",
                        "syncguard.postgres.fence-counters-table=my_counters",
                        "spring.flyway.locations=classpath:db/customers",
                        "spring.flyway.placeholders.customers=customers_of_mine")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(database.relationsAndFunctions())
                            .contains("my_locks", "my_counters", "my_locks_acquire", "customers_of_mine")
                            .doesNotContain("syncguard_locks", "syncguard_fence_counters");
                    assertThat(locksAnything(application.getBean(LockTemplate.class)))
                            .isTrue();
                });
    }

    @Test
    void a_second_start_runs_nothing_again() {
        onDatabase().run(first -> assertThat(first).hasNotFailed());
        List<Map<String, Object>> history = history();

        onDatabase().run(second -> {
            assertThat(second).hasNotFailed();
            assertThat(history()).isEqualTo(history);
        });
    }

    @Test
    void a_location_that_contains_ours_runs_the_script_once() {
        onDatabase()
                .withPropertyValues(
                        "spring.flyway.locations=classpath:db", "spring.flyway.placeholders.customers=customers")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(migrations()).containsOnlyOnce("syncguard/postgresql/" + SCRIPT);
                });
    }

    @Test
    void a_customizer_of_the_application_that_sets_locations_and_placeholders_does_not_undo_ours() {
        onDatabase().withUserConfiguration(CustomizedFlyway.class).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(migrations()).containsExactlyInAnyOrder("V2__customers.sql", SCRIPT);
        });
    }

    @Test
    void flyway_with_a_default_schema_makes_tables_that_are_named_with_it() {
        onDatabase()
                .withPropertyValues(
                        "spring.flyway.default-schema=shop",
                        "syncguard.postgres.locks-table=shop.syncguard_locks",
                        "syncguard.postgres.fence-counters-table=shop.syncguard_fence_counters")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(locksAnything(application.getBean(LockTemplate.class)))
                            .isTrue();
                });
    }

    @Test
    void flyway_with_a_default_schema_that_the_table_names_lack_fails_with_advice() {
        onDatabase()
                .withPropertyValues("spring.flyway.default-schema=shop")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("if they are in another schema")
                        .hasMessageContaining("syncguard.postgres.locks-table"));
    }

    @Test
    void flyway_is_required_where_it_is_asked_for() {
        Applications.on(database.url())
                .withPropertyValues(FLYWAY)
                .run(application -> assertSchemaMissing(application.getStartupFailure()));
        assertThat(database.relationsAndFunctions()).isEmpty();
    }

    @Test
    void a_migration_strategy_that_migrates_nothing_fails_and_the_message_names_what_is_missing() {
        onDatabase()
                .withBean(FlywayMigrationStrategy.class, () -> flyway -> {})
                .run(application -> assertSchemaMissing(application.getStartupFailure()));
    }

    @Test
    void a_flyway_of_the_application_runs_the_script_from_its_location() {
        onDatabase().withUserConfiguration(OwnFlyway.class).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(migrations()).containsExactly(SCRIPT);
            assertThat(locksAnything(application.getBean(LockTemplate.class))).isTrue();
        });
    }

    @Test
    void a_flyway_of_the_application_that_lacks_the_location_fails_with_advice() {
        onDatabase()
                .withUserConfiguration(OwnFlywayWithoutLocation.class)
                .run(application -> assertSchemaMissing(application.getStartupFailure()));
    }

    /** Spring Boot 3.5 does the same without the module that supports it. */
    @Test
    void where_nothing_adds_the_script_to_flyway_the_start_fails_with_advice() {
        onDatabase()
                .withInitializer(context -> context.addBeanFactoryPostProcessor(
                        beans -> ((BeanDefinitionRegistry) beans).removeBeanDefinition(FlywayScript.CUSTOMIZER_BEAN)))
                .run(application -> assertSchemaMissing(application.getStartupFailure()));
    }

    @Test
    void the_script_stays_known_to_flyway_while_the_locks_are_disabled() {
        onDatabase().run(first -> assertThat(first).hasNotFailed());
        List<Map<String, Object>> history = history();

        onDatabase().withPropertyValues("syncguard.enabled=false").run(disabled -> {
            assertThat(disabled).hasNotFailed();
            assertThat(history()).isEqualTo(history);
        });
    }

    /** What docs/postgresql.md says of that choice. */
    @Test
    void whoever_leaves_out_the_script_later_has_to_ignore_its_entry() {
        onDatabase().run(first -> assertThat(first).hasNotFailed());
        ApplicationContextRunner without =
                Applications.withFlyway(database.url()).withPropertyValues("syncguard.enabled=false");

        without.run(
                refused -> assertThat(refused).getFailure().rootCause().hasMessageContaining("not resolved locally"));
        without.withPropertyValues("spring.flyway.ignore-migration-patterns=repeatable:missing")
                .run(ignoring -> assertThat(ignoring).hasNotFailed());
    }

    @Test
    void flyway_without_placeholders_fails_with_advice() {
        onDatabase()
                .withPropertyValues("spring.flyway.placeholder-replacement=false")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("placeholder")
                        .hasMessageContaining("syncguard.postgres.schema-management"));
    }

    @Test
    void flyway_with_another_placeholder_prefix_fails_with_advice() {
        onDatabase()
                .withPropertyValues("spring.flyway.placeholder-prefix=@{")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("placeholder")
                        .hasMessageContaining("syncguard.postgres.schema-management"));
    }

    private ApplicationContextRunner onDatabase() {
        return Applications.withFlyway(database.url()).withPropertyValues(FLYWAY);
    }

    private static boolean locksAnything(LockTemplate locks) {
        return locks.execute("order:1", lock -> locks.manager().isLocked("order:1"));
    }

    private List<String> migrations() {
        return database.jdbc().queryForList("SELECT script FROM flyway_schema_history WHERE success", String.class);
    }

    private List<Map<String, Object>> history() {
        return database.jdbc().queryForList("SELECT * FROM flyway_schema_history ORDER BY installed_rank");
    }

    private void recordWhatIsMade() {
        database.jdbc().execute("""
                        CREATE SCHEMA watch;
                        CREATE TABLE watch.statements (pid INTEGER, identity TEXT);
                        CREATE FUNCTION watch.record() RETURNS EVENT_TRIGGER LANGUAGE plpgsql AS $$
                        BEGIN
                            INSERT INTO watch.statements
                            SELECT pg_backend_pid(), object_identity FROM pg_event_trigger_ddl_commands();
                        END
                        $$;
                        CREATE EVENT TRIGGER record ON ddl_command_end EXECUTE FUNCTION watch.record();
                        """);
    }

    private static void assertSchemaMissing(Throwable failure) {
        assertThat(failure)
                .rootCause()
                .isInstanceOfSatisfying(
                        LockException.class, cause -> assertThat(cause.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING))
                .hasMessageContaining(PostgresScript.LOCATION + "/" + SCRIPT)
                .hasMessageContaining("syncguard.postgres.schema-management");
    }

    @Configuration(proxyBeanMethods = false)
    static class LocksAtItsStart {

        @Bean
        Eager eager(LockTemplate locks) {
            return new Eager(locks);
        }
    }

    static final class Eager {

        private final LockTemplate locks;
        private boolean locked;

        Eager(LockTemplate locks) {
            this.locks = locks;
        }

        @PostConstruct
        void lock() {
            locked = locksAnything(locks);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class CustomizedFlyway {

        @Bean
        FlywayConfigurationCustomizer customers() {
            return configuration ->
                    configuration.locations("classpath:db/customers").placeholders(Map.of("customers", "customers"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFlyway {

        @Bean(initMethod = "migrate")
        Flyway flyway(DataSource dataSource) {
            return Flyway.configure()
                    .dataSource(dataSource)
                    .locations("classpath:" + PostgresScript.LOCATION)
                    .placeholders(Map.of(
                            "syncguard_locks",
                            "syncguard_locks",
                            "syncguard_fence_counters",
                            "syncguard_fence_counters",
                            "syncguard_fence_source",
                            "counter"))
                    .load();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFlywayWithoutLocation {

        @Bean(initMethod = "migrate")
        Flyway flyway(DataSource dataSource) {
            return Flyway.configure()
                    .dataSource(dataSource)
                    .locations("classpath:db/orders")
                    .load();
        }
    }
}
