package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.testing.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a start reports that creates nothing. */
class SchemaCheckTests {

    @Test
    void fails_where_the_tables_are_missing_and_makes_none() {
        TestDatabase database = TestDatabase.empty();

        assertSchemaMissing(database);
        assertThat(database.relationsAndFunctions()).isEmpty();
    }

    @Test
    void fails_where_one_table_is_missing() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("DROP TABLE syncguard_fence_counters");

        assertSchemaMissing(database);
    }

    @Test
    void fails_where_the_functions_are_missing() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("DROP FUNCTION syncguard_locks_version()");

        assertSchemaMissing(database);
    }

    @Test
    void fails_where_an_older_version_is() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc()
                .execute("CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS"
                        + " 'SELECT 0'");

        assertSchemaMissing(database);
    }

    @Test
    void fails_where_the_functions_use_other_counters() {
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
        schema(database, PostgresTables.DEFAULT).check();
    }

    private static void assertOtherCountersAreRefused(TestDatabase database) {
        assertThatThrownBy(schema(database, new PostgresTables("syncguard_locks", "other_counters"))::initialize)
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("is in use with another table of fence counters than 'other_counters'");
        assertThat(database.relationsAndFunctions()).doesNotContain("other_counters");
    }

    private static void assertSchemaMissing(TestDatabase database) {
        assertThatThrownBy(schema(database, PostgresTables.DEFAULT)::check)
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING))
                .hasMessageContaining("db/syncguard/postgresql/R__syncguard_schema.sql")
                .hasMessageContaining("syncguard.postgres.schema-management");
    }

    private static PostgresSchema schema(TestDatabase database, PostgresTables tables) {
        return new PostgresSchema(PostgresServer.dataSource(database.url()), tables);
    }
}
