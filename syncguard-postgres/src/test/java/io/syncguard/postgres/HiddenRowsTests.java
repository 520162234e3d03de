package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.DocumentedRights;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A role has all rights to a table, and yet does not see, change or keep all of its rows. */
class HiddenRowsTests {

    private static final Duration TTL = Duration.ofMinutes(1);

    private final String url = PostgresServer.newDatabaseUrl();
    private final DataSource owner = PostgresServer.dataSource(url);
    private final JdbcTemplate administrator = new JdbcTemplate(owner);
    private final DocumentedRights orders = DocumentedRights.noneIn(url);
    private final HikariDataSource pool = new HikariDataSource();

    HiddenRowsTests() {
        new PostgresSchema(owner, PostgresTables.DEFAULT, FenceSource.CLOCK).initialize();
        orders.grant("rights-locks", "rights-clock");
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "syncguard_locks",
                "syncguard_locks_shared",
                "syncguard_locks_waiters",
                "syncguard_fence_counters",
            })
    void row_level_security_is_found_at_the_start(String table) {
        administrator.execute("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY");

        assertRefused(LockErrorCode.AUTH_FAILED, "Row level security is on for the table '" + table + "'");

        administrator.execute("CREATE POLICY own ON " + table + " USING (true)");
        assertRefused(LockErrorCode.AUTH_FAILED, "DISABLE ROW LEVEL SECURITY");

        administrator.execute("ALTER ROLE " + orders.role() + " BYPASSRLS");
        assertThatCode(this::start).doesNotThrowAnyException();
    }

    /** Row level security exempts the owner, unless it is forced. */
    @Test
    void of_the_owner_it_is_found_where_it_is_forced() {
        for (String table : PostgresTables.DEFAULT.all()) {
            administrator.execute("ALTER TABLE " + table + " OWNER TO " + orders.role());
        }
        administrator.execute("ALTER TABLE syncguard_locks_shared ENABLE ROW LEVEL SECURITY");
        assertThatCode(this::start).doesNotThrowAnyException();

        administrator.execute("ALTER TABLE syncguard_locks_shared FORCE ROW LEVEL SECURITY");

        assertRefused(LockErrorCode.AUTH_FAILED, "syncguard_locks_shared NO FORCE ROW LEVEL SECURITY");
    }

    /** A policy made while instances run ends their operations, which would otherwise not see the reader. */
    @ParameterizedTest
    @EnumSource(PostgresBatching.class)
    void a_policy_that_is_made_later_fails_requests_and_grants_nothing(PostgresBatching batching) {
        StoreCalls backend = backend(batching);
        backend.acquire(Requests.shared("k", "reader", TTL, "test"));
        administrator.execute("CREATE POLICY none ON syncguard_locks_shared USING (false) WITH CHECK (true);"
                + " ALTER TABLE syncguard_locks_shared ENABLE ROW LEVEL SECURITY");

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> backend.acquire(Requests.exclusive("k", "writer", TTL, "test")))
                .withMessageContaining("ow level security is on for the table 'syncguard_locks_shared'")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CREATE VIEW syncguard_locks_shared AS TABLE kept",
                "CREATE MATERIALIZED VIEW syncguard_locks_shared AS TABLE kept",
                "CREATE TABLE syncguard_locks_shared (LIKE kept) PARTITION BY LIST (lock_id)",
                "CREATE TABLE syncguard_locks_shared () INHERITS (kept)",
            })
    void something_else_in_place_of_a_table_is_found_at_the_start(String other) {
        administrator.execute("ALTER TABLE syncguard_locks_shared RENAME TO kept; " + other + ";"
                + " GRANT ALL ON syncguard_locks_shared TO PUBLIC");

        assertRefused(LockErrorCode.INVALID_ARGUMENT, "'syncguard_locks_shared' has to be a plain table");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CREATE RULE none AS ON INSERT TO syncguard_locks DO INSTEAD NOTHING",
                "CREATE TABLE archive () INHERITS (syncguard_locks)",
            })
    void rules_and_children_are_found_at_the_start(String other) {
        administrator.execute(other);

        assertRefused(LockErrorCode.INVALID_ARGUMENT, "'syncguard_locks' has to be a plain table");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "syncguard_locks | BEFORE INSERT | RETURN NULL",
                "syncguard_locks_shared | BEFORE INSERT | NEW.expires_at_ms := 0; RETURN NEW",
                "syncguard_locks_waiters | BEFORE INSERT | NEW.secret := NULL; RETURN NEW",
                "syncguard_fence_counters | BEFORE INSERT | NEW.fence := 0; RETURN NEW",
                "syncguard_locks | BEFORE UPDATE | RETURN OLD",
                "syncguard_fence_counters | BEFORE UPDATE | RETURN NULL",
                "syncguard_locks_waiters | BEFORE DELETE | RETURN NULL",
                "syncguard_fence_counters | BEFORE DELETE | RETURN NULL",
                "syncguard_locks | AFTER INSERT | INSERT INTO audit VALUES (NEW.key); RETURN NEW",
                "syncguard_locks_shared | AFTER DELETE | RAISE EXCEPTION 'kept'",
            })
    void a_trigger_that_keeps_no_row_as_it_is_is_found_at_the_start(String table, String event, String body) {
        administrator.execute("CREATE TABLE audit (key TEXT)");
        trigger(table, event, body);

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(this::start)
                .withMessageContaining("'" + table + "' does not keep a row as it is written")
                .withMessageContaining("Its triggers are watch");
    }

    @Test
    void a_constraint_that_somebody_added_is_found_at_the_start() {
        administrator.execute("ALTER TABLE syncguard_locks ADD CHECK (length(owner) > 100)");

        assertRefused(LockErrorCode.INVALID_ARGUMENT, "'syncguard_locks' does not keep a row as it is written: ");
    }

    /** A user who may not run blocks can still call functions, and so lock. */
    @Test
    void without_the_right_to_the_language_the_start_tries_no_row() {
        administrator.execute("REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC");

        assertThatCode(this::start).doesNotThrowAnyException();
    }

    /** It may even write to another table, with its own rights. */
    @Test
    void a_trigger_that_only_looks_is_left_alone_and_the_start_leaves_nothing_behind() {
        administrator.execute("CREATE TABLE audit (key TEXT)");
        trigger("syncguard_locks", "AFTER INSERT OR UPDATE OR DELETE", "INSERT INTO audit VALUES ('k'); RETURN NULL");
        administrator.execute("ALTER FUNCTION watch() SECURITY DEFINER");

        assertThatCode(this::start).doesNotThrowAnyException();

        assertThat(administrator.queryForObject(
                        "SELECT (SELECT count(*) FROM audit) + (SELECT count(*) FROM syncguard_locks)"
                                + " + (SELECT count(*) FROM syncguard_locks_waiters)"
                                + " + (SELECT count(*) FROM syncguard_fence_counters)",
                        Integer.class))
                .isZero();
    }

    private void trigger(String table, String event, String body) {
        administrator.execute("CREATE FUNCTION watch() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN " + body
                + "; END $$; CREATE TRIGGER watch " + event + " ON " + table
                + " FOR EACH ROW EXECUTE FUNCTION watch()");
    }

    private void assertRefused(LockErrorCode code, String message) {
        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(this::start)
                .withMessageContaining(message)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(code));
    }

    private void start() {
        new PostgresSchema(orders.dataSource(), PostgresTables.DEFAULT, FenceSource.CLOCK).check();
    }

    private StoreCalls backend(PostgresBatching batching) {
        pool.setDataSource(orders.dataSource());
        pool.setMaximumPoolSize(2);
        return batching.backend(
                pool,
                pool,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.CLOCK)),
                () -> {});
    }
}
