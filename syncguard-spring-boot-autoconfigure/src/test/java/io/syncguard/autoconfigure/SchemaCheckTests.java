package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class SchemaCheckTests {

    @Test
    void the_start_fails_where_the_tables_are_missing_and_makes_none() {
        TestDatabase database = TestDatabase.empty();

        assertSchemaMissing(checkedOn(database));
        assertThat(database.relationsAndFunctions()).isEmpty();
    }

    @Test
    void the_start_fails_where_one_table_is_missing() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("DROP TABLE syncguard_fence_counters");

        assertSchemaMissing(checkedOn(database));
    }

    @Test
    void the_start_fails_where_the_functions_are_missing() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("DROP FUNCTION syncguard_locks_version()");

        assertSchemaMissing(checkedOn(database));
    }

    @Test
    void the_start_fails_where_an_older_version_is() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc()
                .execute(
                        "CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS 'SELECT 0'");

        assertSchemaMissing(checkedOn(database));
    }

    @Test
    void the_start_fails_where_the_functions_use_other_counters() {
        assertOtherCountersAreRefused(TestDatabase.withSchema());
    }

    /** A lookup by the name alone finds no function if an overload exists. */
    @ParameterizedTest
    @ValueSource(strings = {"release", "fence_counters", "version"})
    void an_overload_of_a_function_does_not_hide_that_they_use_other_counters(String function) {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc()
                .execute("CREATE FUNCTION syncguard_locks_" + function
                        + "(a INTEGER, b INTEGER) RETURNS TEXT LANGUAGE sql AS 'SELECT NULL::TEXT'");

        assertOtherCountersAreRefused(database);
        checkedOn(database).run(application -> assertThat(application).hasNotFailed());
    }

    private static void assertOtherCountersAreRefused(TestDatabase database) {
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.fence-counters-table=other_counters")
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .isInstanceOfSatisfying(
                                LockException.class,
                                failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                        .hasMessageContaining("is in use with another table of fence counters than 'other_counters'"));
        assertThat(database.relationsAndFunctions()).doesNotContain("other_counters");
    }

    @Test
    void the_application_starts_where_everything_is_there() {
        TestDatabase database = TestDatabase.withSchema();

        checkedOn(database).run(application -> {
            assertThat(application).hasNotFailed();
            boolean held = application.getBean(LockTemplate.class).execute("order:1", lock -> lock.isHeld());
            assertThat(held).isTrue();
        });
    }

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

    private static ApplicationContextRunner checkedOn(TestDatabase database) {
        return Applications.on(database.url()).withPropertyValues("syncguard.postgres.schema-management=none");
    }

    private static void assertSchemaMissing(ApplicationContextRunner runner) {
        runner.run(application -> assertThat(application)
                .getFailure()
                .rootCause()
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING))
                .hasMessageContaining("db/syncguard/postgresql/R__syncguard_schema.sql")
                .hasMessageContaining("syncguard.postgres.schema-management"));
    }
}
