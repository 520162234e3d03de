package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An index that is missing fails the start if the protocol needs it, else it is a warning. */
@Tag("verification")
class SchemaIndexTests {

    private final TestDatabase database = TestDatabase.withSchema();

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "syncguard_locks; expires_at_ms; DROP INDEX %s",
                "syncguard_locks_shared; expires_at_ms; DROP INDEX %s",
                "syncguard_locks_shared; key, expires_at_ms; DROP INDEX %s",
                "syncguard_locks_waiters; key, arrival; DROP INDEX %s",
                "syncguard_locks; expires_at_ms; 'DROP INDEX %s; CREATE INDEX ON syncguard_locks USING brin"
                        + " (expires_at_ms)'",
                "syncguard_locks_waiters; key, arrival; UPDATE pg_index SET indisvalid = false WHERE indexrelid ="
                        + " '%s'::regclass",
            })
    void a_missing_index_is_a_warning_with_the_statement_that_makes_it(String table, String columns, String change) {
        database.jdbc().execute(change.formatted(indexOn(table, columns)));

        String statement = "CREATE INDEX CONCURRENTLY ON " + table + " (" + columns + ")";
        assertThat(warnings()).singleElement().asString().contains(table).endsWith("Run: " + statement);
        database.jdbc().execute(statement);
        assertThat(warnings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"syncguard_locks", "syncguard_locks_shared", "syncguard_fence_counters"})
    void a_table_that_a_crash_empties_is_a_warning(String table) {
        database.jdbc().execute("ALTER TABLE " + table + " SET UNLOGGED");

        String statement = "ALTER TABLE " + table + " SET LOGGED";
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("'" + table + "'")
                .endsWith("Run: " + statement);
        database.jdbc().execute(statement);
        assertThat(warnings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_pkey",
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_lock_id_key",
                "ALTER TABLE syncguard_locks_shared DROP CONSTRAINT syncguard_locks_shared_pkey",
                "ALTER TABLE syncguard_locks_waiters DROP CONSTRAINT syncguard_locks_waiters_pkey",
                "ALTER TABLE syncguard_fence_counters DROP CONSTRAINT syncguard_fence_counters_pkey",
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'syncguard_fence_counters_pkey'::regclass",
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_pkey;"
                        + " CREATE INDEX ON syncguard_locks (key)",
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_pkey;"
                        + " CREATE UNIQUE INDEX ON syncguard_locks (key) WHERE fence > ''",
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_pkey;"
                        + " CREATE UNIQUE INDEX ON syncguard_locks (key, fence)",
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_pkey;"
                        + " CREATE UNIQUE INDEX ON syncguard_locks (lower(key))",
                "ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_pkey;"
                        + " ALTER TABLE syncguard_locks ADD UNIQUE (key) DEFERRABLE"
            })
    void a_missing_unique_index_fails_the_start(String change) {
        database.jdbc().execute(change);

        for (ThrowingCallable start : List.<ThrowingCallable>of(schema()::initialize, schema()::check)) {
            assertThatThrownBy(start)
                    .isInstanceOfSatisfying(
                            LockException.class,
                            failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING))
                    .hasMessageContaining("has no valid unique index on ");
        }
    }

    private List<String> warnings() {
        try (CapturedLog log = new CapturedLog()) {
            schema().initialize();
            return List.copyOf(log.messages());
        }
    }

    private PostgresSchema schema() {
        return new PostgresSchema(PostgresServer.dataSource(database.url()), PostgresTables.DEFAULT);
    }

    private String indexOn(String table, String columns) {
        return database.jdbc()
                .queryForObject(
                        "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = ?::regclass"
                                + " AND pg_get_indexdef(indexrelid) LIKE ?",
                        String.class,
                        table,
                        "%(" + columns + ")");
    }
}
