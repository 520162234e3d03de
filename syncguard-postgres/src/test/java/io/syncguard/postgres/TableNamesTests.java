package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.UsualBuild;
import java.time.Duration;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TableNamesTests {

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.empty();
    }

    @BeforeEach
    void emptyDatabase() {
        database.jdbc().execute("DROP SCHEMA IF EXISTS public, shop CASCADE; CREATE SCHEMA public");
    }

    @BugOf("SyncGuard for TypeScript: tables with capitals in their names are made and not found")
    @ParameterizedTest
    @CsvSource({
        "my_locks, my_counters",
        "MyLocks, MyCounters",
        "_, __",
        "public.my_locks, public.my_counters",
        "locks_with_a_name_of_exactly_forty_eight_bytes__, counters_with_a_name_of_exactly_forty_eight_byte"
    })
    void plain_names_work(String locks, String counters) {
        PostgresTables tables = new PostgresTables(locks, counters);
        schema(tables).initialize();

        assertThat(locksAnything(tables)).isTrue();
        schema(tables).check();
    }

    @Test
    void tables_may_be_in_a_schema_outside_of_the_search_path() {
        database.jdbc().execute("CREATE SCHEMA shop");

        PostgresTables tables = new PostgresTables("shop.my_locks", "Shop.my_counters");
        schema(tables).initialize();

        assertThat(locksAnything(tables)).isTrue();
        assertThat(database.jdbc()
                        .queryForList(
                                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace ="
                                        + " 'public'::regnamespace",
                                String.class))
                .isEmpty();
    }

    @Test
    void a_schema_that_is_not_there_is_named() {
        assertThatThrownBy(schema(new PostgresTables("nowhere.my_locks", "nowhere.my_counters"))::initialize)
                .hasStackTraceContaining("schema \"nowhere\" does not exist");
    }

    static Stream<String> noIdentifiers() {
        return UsualBuild.first(
                5,
                Stream.of(
                        "my_locks_with_a_name_of_exactly_forty_nine_bytes_",
                        "my-locks",
                        "a.b.c",
                        "x'; DROP TABLE orders; --",
                        "\"my_locks\"",
                        "my locks",
                        "1locks",
                        "höchst",
                        ".my_locks",
                        "my_locks.",
                        "pg_locks",
                        "pg_temp.my_locks",
                        "x (id int); DROP TABLE orders; --"));
    }

    @ParameterizedTest
    @MethodSource("noIdentifiers")
    void names_that_are_no_plain_identifiers_are_refused(String name) {
        assertRefused("syncguard.postgres.locks-table", name, "my_counters");
        assertRefused("syncguard.postgres.fence-counters-table", "my_locks", name);
    }

    /** The server knows its words, and nothing is created before it has read all names. */
    @ParameterizedTest
    @ValueSource(strings = {"user", "Select"})
    void reserved_words_are_refused_by_the_server(String name) {
        assertThatThrownBy(schema(new PostgresTables(name, "my_counters"))::initialize)
                .hasStackTraceContaining("Choose a name that is no reserved word")
                .hasStackTraceContaining("syncguard.postgres.locks-table");
        assertThat(database.relationsAndFunctions()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "my_table, my_table",
        "my_table, My_Table",
        "shop.my_table, SHOP.my_table",
        "my_table, public.my_table",
        "public.my_table, my_table"
    })
    void one_table_for_both_is_refused(String locks, String counters) {
        assertRefused("fence-counters-table", locks, counters);
    }

    private static void assertRefused(String property, String locks, String counters) {
        assertThatThrownBy(() -> schema(new PostgresTables(locks, counters)).initialize())
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining(property);
        assertThat(database.relationsAndFunctions()).isEmpty();
    }

    private static PostgresSchema schema(PostgresTables tables) {
        return new PostgresSchema(PostgresServer.dataSource(database.url()), tables);
    }

    private static boolean locksAnything(PostgresTables tables) {
        DataSource connections = PostgresServer.dataSource(database.url());
        PostgresSettings settings = new PostgresSettings(
                tables,
                Duration.ofSeconds(5),
                PostgresSettings.WAITER_TTL,
                Duration.ZERO,
                false,
                FenceSettings.from(FenceSource.COUNTER));
        try (StoreCalls store =
                new StoreCalls(new PostgresLockBackend(connections, connections, null, settings, () -> {}))) {
            store.acquire(Requests.exclusive("order:1", Requests.newLockId(), Duration.ofMinutes(1), "test"));
            return store.isLocked("order:1");
        }
    }
}
