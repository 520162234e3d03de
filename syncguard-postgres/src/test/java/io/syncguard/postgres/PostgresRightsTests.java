package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.DocumentedRights;
import io.syncguard.testing.DocumentedRights.Right;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Each right that {@code docs/security.md} asks for is needed, by the operations that {@code rights-needed.txt} names.
 * The contracts in {@code Postgres…Tests} run with these rights and no others, so they are enough.
 */
class PostgresRightsTests {

    private static final Right CONNECT = new Right("CONNECT", "DATABASE shop");

    /** A row of {@code rights-needed.txt}. */
    private static final Pattern NEEDED_FOR = Pattern.compile("(?m)^\\| `([A-Z]+)` on `(.*?)` \\| (.*) \\|$");

    private final String url = PostgresServer.newDatabaseUrl();
    private final DataSource owner = PostgresServer.dataSource(url);
    private final List<StoreCalls> backends = new ArrayList<>();
    private final List<HikariDataSource> pools = new ArrayList<>();
    private PostgresOperations operations;
    private DocumentedRights role;

    @BeforeEach
    void createTables() {
        new PostgresSchema(owner, PostgresTables.DEFAULT, FenceSource.CLOCK).initialize();
        role = DocumentedRights.noneIn(url);
        operations = new PostgresOperations(
                owner, role.dataSource(), PostgresTables.DEFAULT, backend(owner), FenceSource.CLOCK);
    }

    @AfterEach
    void close() {
        backends.forEach(StoreCalls::close);
        pools.forEach(HikariDataSource::close);
    }

    @Test
    void each_right_to_lock_is_needed() throws Exception {
        role.grant("rights-locks", "rights-clock");
        assertThat(failures()).as("with all rights").isEmpty();
        Map<String, List<String>> needed = neededFor();

        assertThat(rights("rights-locks", "rights-clock"))
                .hasSameSizeAs(needed.keySet())
                .allSatisfy(right -> {
                    role.revoke(right);
                    assertThat(needed).containsKey(right.toString());
                    assertThat(failuresAmong(needed.get(right.toString())))
                            .as(right.toString())
                            .isEqualTo(needed.get(right.toString()));
                    role.grant(right);
                });
    }

    /** The owner of the tables may do everything with them. */
    @Test
    void a_role_that_may_create_makes_the_tables_itself() throws Exception {
        new JdbcTemplate(owner).execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        List<Right> rights = rights("rights-create");
        Right create = rights.get(rights.size() - 1);
        assertThat(create.privilege()).isEqualTo("CREATE");
        role.grant("rights-create");
        role.revoke(create);
        assertThatThrownBy(operations::start).hasMessageContaining("permission denied for schema public");

        role.grant(create);

        operations.start();
        role.revoke(create);
        assertThat(failures()).isEmpty();
    }

    @Test
    void each_right_to_guard_a_commit_is_needed() throws Exception {
        role.grant(CONNECT);
        role.grant("rights-guard");
        assertThat(pin()).isEqualTo("pinned");

        assertThat(rights("rights-guard")).hasSize(5).allSatisfy(right -> {
            role.revoke(right);
            assertThat(pin()).contains("may not lock the rows");
            role.grant(right);
        });
    }

    /** Each sample of {@code docs/security.md} until the rights are complete, in the order of the page. */
    @Test
    void the_steps_of_the_page_are_enough_for_two_roles_as_they_are_printed() throws Exception {
        TwoRoles roles = new TwoRoles();
        List<String> steps = TwoRoles.steps();
        assertThat(steps.get(0)).contains("CREATE SCHEMA").doesNotContain(" TO orders");
        assertThat(steps.get(1)).contains(" TO orders");
        roles.administrator(steps.get(0));
        roles.migrate();
        roles.administrator(steps.get(1));
        assertThat(roles.failures()).isEmpty();

        assertThat(roles.rightsOnLaterObjects()).isFalse();
        roles.administrator(steps.get(2));
        assertThat(roles.rightsOnLaterObjects()).isTrue();
    }

    @Test
    void with_the_rights_on_later_objects_no_migration_needs_a_grant() throws Exception {
        TwoRoles roles = new TwoRoles();
        List<String> steps = TwoRoles.steps();
        roles.administrator(steps.get(0));
        roles.administrator(steps.get(2));
        roles.administrator(steps.get(1).lines().limit(2).collect(Collectors.joining("\n")));

        roles.migrate();

        assertThat(roles.failures()).isEmpty();
    }

    /** A function in the same schema could be called in place of one of the library, with the rights of the caller. */
    @Test
    void a_neighbour_without_rights_reads_nothing_and_puts_nothing_in_front_of_the_functions() {
        role.grant(CONNECT);
        operations.held();

        for (String attempt : List.of(
                "SELECT lock_id FROM public.syncguard_locks",
                "DELETE FROM public.syncguard_locks",
                "SELECT public.syncguard_locks_force_release('order:42')",
                "CREATE FUNCTION public.syncguard_locks_is_live(NUMERIC, NUMERIC) RETURNS BOOLEAN LANGUAGE sql AS"
                        + " 'SELECT true'",
                "CREATE SCHEMA locking")) {
            assertThatThrownBy(() -> new JdbcTemplate(role.dataSource()).execute(attempt))
                    .as(attempt)
                    .rootCause()
                    .hasMessageContaining("permission denied");
        }
    }

    private static List<Right> rights(String... samples) {
        return Stream.of(samples)
                .flatMap(sample -> DocumentedRights.of(sample).stream())
                .toList();
    }

    private static Map<String, List<String>> neededFor() throws IOException {
        Matcher row =
                NEEDED_FOR.matcher(Files.readString(Path.of("src/test/resources/io/syncguard/docs/rights-needed.txt")));
        Map<String, List<String>> found = new TreeMap<>();
        while (row.find()) {
            found.put(row.group(1) + " on " + row.group(2), List.of(row.group(3).split("; ")));
        }
        return found;
    }

    /** What the guard of a commit does in the transaction of another role. */
    private String pin() throws SQLException {
        StoreCalls locks = backend(owner);
        String lockId = operations.held().lockId();
        try (Connection connection = role.dataSource().getConnection()) {
            String whyNot = locks.pins().whyNot(connection);
            if (whyNot != null) {
                return whyNot;
            }
            connection.setAutoCommit(false);
            return locks.pins().pin(connection, List.of(lockId)).lockIds().contains(lockId) ? "pinned" : "lost";
        }
    }

    private List<String> failures() throws SQLException {
        return failuresAmong(operations.of(backend(owner)).keySet());
    }

    private List<String> failuresAmong(Collection<String> names) throws SQLException {
        return failuresAmong(names, operations.of(backend(role.dataSource())));
    }

    private static List<String> failuresAmong(Collection<String> names, Map<String, PostgresOperations.Operation> all)
            throws SQLException {
        List<String> failed = new ArrayList<>();
        for (String name : names) {
            try {
                all.get(name).run();
            } catch (LockException ex) {
                assertThat(ex.code()).as(name).isIn(LockErrorCode.AUTH_FAILED, LockErrorCode.SCHEMA_MISSING);
                failed.add(name);
            } catch (SQLException ex) {
                failed.add(name);
            }
        }
        return failed;
    }

    private StoreCalls backend(DataSource connections) {
        return backend(connections, PostgresTables.DEFAULT);
    }

    private StoreCalls backend(DataSource connections, PostgresTables tables) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(connections);
        pool.setMaximumPoolSize(2);
        pool.setInitializationFailTimeout(-1);
        pool.setConnectionTimeout(1000);
        pools.add(pool);
        StoreCalls backend = new StoreCalls(new PostgresLockBackend(
                pool,
                pool,
                connections,
                new PostgresSettings(
                        tables,
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(1),
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {}));
        backends.add(backend);
        return backend;
    }

    /** A role that migrates and one that locks, in a database of their own. */
    private final class TwoRoles {

        private static final PostgresTables TABLES =
                new PostgresTables("locking.syncguard_locks", "locking.syncguard_fence_counters");

        private static final Pattern STEP = Pattern.compile("(?s)<!-- sample: rights-\\w+ -->\\R```sql\\R(.*?)```");

        private final String shop = PostgresServer.newDatabaseUrl();
        private final DataSource administrator = PostgresServer.dataSource(shop);
        private final String database =
                new JdbcTemplate(administrator).queryForObject("SELECT current_database()", String.class);

        TwoRoles() {
            administrator("CREATE ROLE migration LOGIN PASSWORD 'secret'; CREATE ROLE orders LOGIN PASSWORD 'secret'");
        }

        /** The samples of the page in its order, up to the rights on later objects. */
        static List<String> steps() throws IOException {
            return STEP.matcher(Files.readString(Path.of("../docs/security.md")))
                    .results()
                    .map(step -> step.group(1))
                    .limit(3)
                    .toList();
        }

        void administrator(String statements) {
            new JdbcTemplate(administrator).execute(here(statements));
        }

        void migrate() {
            new JdbcTemplate(as("migration")).execute(new PostgresScript(TABLES, FenceSource.COUNTER).text());
        }

        List<String> failures() throws SQLException {
            DataSource orders = as("orders");
            Map<String, PostgresOperations.Operation> all = new PostgresOperations(
                            administrator, orders, TABLES, backend(administrator, TABLES), FenceSource.COUNTER)
                    .of(backend(orders, TABLES));
            return failuresAmong(all.keySet(), all);
        }

        /** Whether the role that locks may use what a later migration creates. */
        boolean rightsOnLaterObjects() {
            JdbcTemplate migration = new JdbcTemplate(as("migration"));
            migration.execute("CREATE TABLE locking.later (id BIGINT); CREATE FUNCTION locking.later() RETURNS BIGINT"
                    + " LANGUAGE sql AS 'SELECT 1'");
            try {
                return Boolean.TRUE.equals(migration.queryForObject(
                        here("SELECT has_table_privilege('orders', 'locking.later', 'SELECT')"
                                + " AND has_function_privilege('orders', 'locking.later()', 'EXECUTE')"),
                        Boolean.class));
            } finally {
                migration.execute("DROP TABLE locking.later; DROP FUNCTION locking.later()");
            }
        }

        private DataSource as(String role) {
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setURL(shop);
            dataSource.setUser(here(role));
            dataSource.setPassword("secret");
            return dataSource;
        }

        private String here(String statements) {
            return statements
                    .replaceAll("\\bshop\\b", database)
                    .replaceAll("\\b(migration|orders)\\b", "$1_in_" + database);
        }
    }
}
