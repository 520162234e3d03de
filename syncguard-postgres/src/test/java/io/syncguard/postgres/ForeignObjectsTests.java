package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** A role that may create in the schema of the tables creates objects with names of the library before it does. */
class ForeignObjectsTests {

    private static final PostgresScript SCRIPT = new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER);

    /** A function that counts its calls, and a domain whose check calls it. */
    private static final String TRAP = """
            CREATE FUNCTION public.trap() RETURNS BOOLEAN LANGUAGE plpgsql AS
                'BEGIN PERFORM nextval(''trapped''); RETURN true; END';
            CREATE FUNCTION public.trap(TEXT) RETURNS BOOLEAN IMMUTABLE LANGUAGE sql AS 'SELECT public.trap()';
            CREATE FUNCTION public.trap_row() RETURNS TRIGGER LANGUAGE plpgsql AS
                'BEGIN PERFORM public.trap(); RETURN NEW; END';
            CREATE TYPE public.trap_answer AS (
                granted_fence BIGINT, granted_at_ms BIGINT, granted_until_ms BIGINT, time_left_ms BIGINT,
                held_by TEXT, held_since_ms BIGINT, held_by_others BOOLEAN, held_lapsed BOOLEAN,
                request_position BIGINT)
            """;

    /** An older version, which did not have these objects yet. */
    private static final String WITHOUT_NEW_OBJECTS = """
            CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1';
            DROP FUNCTION syncguard_locks_free_readers(TEXT[], INTEGER[]);
            DROP TYPE syncguard_locks_answer CASCADE
            """;

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate administrator = new JdbcTemplate(PostgresServer.dataSource(url));
    private final String database = administrator.queryForObject("SELECT current_database()", String.class);
    private final String attacker = "attacker_in_" + database;

    @BeforeEach
    void letAnotherRoleCreate() {
        newRole(attacker);
        administrator.execute("CREATE SEQUENCE trapped; GRANT ALL ON SEQUENCE trapped TO PUBLIC;"
                + " GRANT CREATE ON SCHEMA public TO " + attacker);
        as(attacker).execute(TRAP);
    }

    static Stream<String> plantedBeforeTheFirstStart() {
        return Stream.concat(
                Stream.of(
                        "CREATE TABLE syncguard_locks_shared (lock_id TEXT PRIMARY KEY, key TEXT CHECK (trap(key)),"
                                + " expires_at_ms BIGINT, acquired_at_ms BIGINT, fence TEXT DEFAULT trap()::TEXT,"
                                + " user_key TEXT, owner TEXT)",
                        "CREATE TABLE syncguard_locks_waiters (LIKE pg_class)",
                        "CREATE TABLE syncguard_fence_counters (fence_key TEXT PRIMARY KEY, fence BIGINT,"
                                + " key_debug TEXT);"
                                + " CREATE INDEX ON syncguard_fence_counters (trap(key_debug))",
                        "CREATE TABLE syncguard_locks (key TEXT, lock_id TEXT UNIQUE) PARTITION BY LIST (lock_id)",
                        "CREATE VIEW syncguard_locks AS SELECT 'k' AS key WHERE trap()",
                        "CREATE TABLE syncguard_locks (key TEXT); ALTER TABLE syncguard_locks ENABLE ROW LEVEL"
                                + " SECURITY;"
                                + " CREATE POLICY seen ON syncguard_locks USING (trap())",
                        "CREATE SEQUENCE syncguard_locks_waiters_arrival_seq",
                        "CREATE DOMAIN syncguard_locks_shared AS TEXT CHECK (trap())",
                        "CREATE TYPE syncguard_locks AS ENUM ('free')",
                        "CREATE TABLE mine (key TEXT); CREATE INDEX syncguard_locks_pkey ON mine (trap(key))"),
                plantedBeforeAnUpgrade());
    }

    static Stream<String> plantedBeforeAnUpgrade() {
        return Stream.of(
                "CREATE DOMAIN syncguard_locks_answer AS trap_answer CHECK (trap())",
                "CREATE TYPE syncguard_locks_answer AS ENUM ('refused')",
                "CREATE TABLE syncguard_locks_answer (granted_fence BIGINT)",
                "CREATE FUNCTION syncguard_locks_free_readers(TEXT[], INTEGER[]) RETURNS TEXT[] LANGUAGE sql AS"
                        + " $$ SELECT '{}'::TEXT[] WHERE trap() $$");
    }

    @ParameterizedTest
    @MethodSource("plantedBeforeTheFirstStart")
    void a_first_start_refuses_it_and_names_the_owner(String planted) {
        as(attacker).execute(planted);

        assertRefused();
    }

    @ParameterizedTest
    @MethodSource("plantedBeforeAnUpgrade")
    void an_upgrade_refuses_it_and_names_the_owner(String planted) {
        administrator.execute(SCRIPT.text());
        administrator.execute(WITHOUT_NEW_OBJECTS);
        as(attacker).execute(planted);

        assertRefused();
    }

    /** The library, as a superuser and as a role of few rights, and somebody who runs the script. */
    private void assertRefused() {
        String orders = newCreator("orders");
        for (JdbcTemplate user : List.of(administrator, as(orders))) {
            assertThatExceptionOfType(LockSetupException.class)
                    .isThrownBy(() -> schema(user).initialize())
                    .withMessageContaining("belongs to '" + attacker + "'")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
            assertThatThrownBy(() -> user.execute(SCRIPT.text()))
                    .isInstanceOf(DataAccessException.class)
                    .rootCause()
                    .hasMessageContaining("belongs to " + attacker);
        }
        assertNothingCalled();
    }

    /** Without any function of ours, nothing but the owner shows that it is not ours. */
    @Test
    void a_whole_schema_of_another_role_is_refused_by_all_who_could_have_made_it_themselves() {
        as(attacker).execute(SCRIPT.text());
        as(attacker).execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC");

        assertRefused();
    }

    /** The check cannot see it: it is committed while the script waits to create its own. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE syncguard_locks (key TEXT CHECK (trap(key)))",
                "CREATE TABLE syncguard_locks_waiters (key TEXT CHECK (trap(key)))",
                "CREATE DOMAIN syncguard_locks_answer AS trap_answer CHECK (trap())",
            })
    void what_is_planted_after_the_check_is_not_used(String planted) throws Exception {
        try (Connection connection = source(as(attacker)).getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(planted);
            Future<Void> start = PostgresRace.start(() -> {
                schema(administrator).initialize();
                return null;
            });
            Awaitility.await()
                    .until(() -> Boolean.TRUE.equals(administrator.queryForObject(
                            "SELECT EXISTS (SELECT FROM pg_locks k JOIN pg_stat_activity USING (pid)"
                                    + " WHERE NOT k.granted AND datname = current_database())",
                            Boolean.class)));
            connection.commit();

            assertThatThrownBy(start::get).hasCauseInstanceOf(LockSetupException.class);
        }
        assertRefused();
    }

    @Test
    void a_trigger_whose_function_belongs_to_another_role_is_refused() {
        schema(administrator).initialize();
        administrator.execute("GRANT TRIGGER ON syncguard_locks_shared TO " + attacker);
        as(attacker)
                .execute("CREATE TRIGGER watch BEFORE INSERT ON syncguard_locks_shared FOR EACH ROW"
                        + " EXECUTE FUNCTION trap_row()");

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(() -> schema(administrator).check())
                .withMessageContaining("trigger watch 'trap_row()' of SyncGuard belongs to '" + attacker + "'");
    }

    /** The role may create, too, where the tables are, and makes what nothing calls. */
    @Test
    void a_role_that_creates_and_one_that_locks_share_a_schema_with_others_who_create() {
        String migration = newCreator("migration");
        String orders = newRole("orders_in_" + database);
        as(migration).execute(SCRIPT.text());
        as(migration).execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + orders);
        as(attacker)
                .execute("CREATE FUNCTION syncguard_locks_is_live(NUMERIC, NUMERIC) RETURNS BOOLEAN LANGUAGE sql AS"
                        + " 'SELECT trap()'; CREATE FUNCTION syncguard_locks_front(TEXT) RETURNS TEXT LANGUAGE sql AS"
                        + " 'SELECT trap()::TEXT'");

        schema(as(orders)).check();
        schema(as(orders)).initialize();
        as(migration).execute(SCRIPT.text());
    }

    @Test
    void the_owner_of_the_schema_and_a_group_of_the_user_are_no_strangers() {
        String team = newCreator("team");
        administrator.execute("GRANT " + team + " TO " + newRole("member_in_" + database));
        as(team).execute(SCRIPT.text());
        schema(as("member_in_" + database)).initialize();

        administrator.execute("ALTER SCHEMA public OWNER TO " + team);
        schema(administrator).initialize();
    }

    @ParameterizedTest
    @ValueSource(strings = {"xid", "record", "void"})
    void the_script_refuses_a_path_with_another_type_in_front(String type) {
        as(attacker).execute("CREATE DOMAIN public." + type + " AS TEXT CHECK (trap())");

        assertThatThrownBy(() -> new JdbcTemplate(
                                PostgresServer.dataSource(url + "&options=-c%20search_path=public,pg_catalog"))
                        .execute(SCRIPT.text()))
                .rootCause()
                .hasMessageContaining("another type in front");
        assertNothingCalled();
    }

    /** A function that is missing in the list of the script could belong to anybody. */
    @Test
    void the_script_checks_each_function_that_it_creates() {
        schema(administrator).initialize();
        List<String> created = administrator.queryForList(
                "SELECT oid::regprocedure::TEXT FROM pg_proc WHERE proname LIKE 'syncguard%'", String.class);
        administrator.execute("GRANT USAGE ON SCHEMA public TO " + attacker);

        assertThat(created).isNotEmpty().allSatisfy(function -> {
            administrator.execute("ALTER ROUTINE " + function + " OWNER TO " + attacker);
            assertThatThrownBy(() -> schema(administrator).check())
                    .as(function + " is missing in the list at the beginning of the script")
                    .hasMessageContaining(function.replaceFirst("\\(.*", ""));
            administrator.execute("ALTER ROUTINE " + function + " OWNER TO CURRENT_USER");
        });
    }

    /** In the simple protocol, the server learns no types of parameters. */
    @Test
    void no_overload_is_called_whatever_the_protocol() throws Exception {
        schema(administrator).initialize();
        for (String function :
                List.of("extend(TEXT, TEXT)", "renew_waiters(TEXT)", "release_all(TEXT)", "sweep(TEXT)")) {
            as(attacker)
                    .execute("CREATE FUNCTION syncguard_locks_" + function + " RETURNS TEXT LANGUAGE sql AS"
                            + " $$ SELECT public.trap()::TEXT $$");
        }
        DataSource simple = PostgresServer.dataSource(url + "&preferQueryMode=simple");
        PostgresSettings settings = new PostgresSettings(
                PostgresTables.DEFAULT,
                Duration.ofSeconds(5),
                PostgresSettings.WAITER_TTL,
                Duration.ZERO,
                false,
                FenceSettings.from(FenceSource.COUNTER));
        try (StoreCalls backend = new StoreCalls(new PostgresLockBackend(simple, simple, null, settings, () -> {}))) {
            AcquireRequest request = Requests.exclusive("k", "1---------------------", Duration.ofMinutes(1), "test");
            backend.acquire(request);
            backend.extendAll(List.of(Requests.extension("k", request.lockId(), Duration.ofMinutes(1))));
            backend.renewWaiters(List.of(request.keyedLockId()));
            assertThat(backend.releaseAll(List.of(request.keyedLockId()))).containsExactly(ReleaseResult.RELEASED);
        }
        assertNothingCalled();
    }

    private void assertNothingCalled() {
        assertThat(administrator.queryForObject("SELECT is_called FROM trapped", Boolean.class))
                .as("code of the attacker ran")
                .isFalse();
    }

    private String newCreator(String name) {
        String role = newRole(name + "_in_" + database);
        administrator.execute("GRANT CREATE ON SCHEMA public TO " + role);
        return role;
    }

    private String newRole(String role) {
        administrator.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        return role;
    }

    private JdbcTemplate as(String role) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(url);
        dataSource.setUser(role);
        dataSource.setPassword("secret");
        return new JdbcTemplate(dataSource);
    }

    private static PostgresSchema schema(JdbcTemplate user) {
        return new PostgresSchema(source(user), PostgresTables.DEFAULT);
    }

    private static DataSource source(JdbcTemplate user) {
        return Objects.requireNonNull(user.getDataSource());
    }
}
