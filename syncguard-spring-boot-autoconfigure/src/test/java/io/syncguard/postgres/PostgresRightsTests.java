package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.fencing.FenceSchema;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
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
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

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
    private final List<LockBackend> backends = new ArrayList<>();
    private final List<HikariDataSource> pools = new ArrayList<>();
    private PostgresOperations operations;
    private DocumentedRights role;

    @BeforeEach
    void createTables() {
        new PostgresSchema(owner, PostgresTables.DEFAULT, FenceSource.CLOCK).initialize();
        new FenceSchema(owner, FenceGuard.DEFAULT_TABLE).initialize();
        role = DocumentedRights.noneIn(url);
        operations = new PostgresOperations(
                owner, role.dataSource(), PostgresTables.DEFAULT, backend(owner), FenceSource.CLOCK);
    }

    @AfterEach
    void close() {
        backends.forEach(LockBackend::close);
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

    @Test
    void each_right_to_check_fences_is_needed() {
        role.grant(CONNECT);
        role.grant("rights-fences");
        assertThat(catchThrowable(this::checkFence)).isNull();

        assertThat(rights("rights-fences")).hasSize(4).allSatisfy(right -> {
            role.revoke(right);
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(this::checkFence)
                    .satisfies(
                            ex -> assertThat(ex.code()).isIn(LockErrorCode.AUTH_FAILED, LockErrorCode.SCHEMA_MISSING));
            role.grant(right);
        });
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
        Matcher row = NEEDED_FOR.matcher(Files.readString(
                Path.of("../syncguard-postgres/src/test/resources/io/syncguard/docs/rights-needed.txt")));
        Map<String, List<String>> found = new TreeMap<>();
        while (row.find()) {
            found.put(row.group(1) + " on " + row.group(2), List.of(row.group(3).split("; ")));
        }
        return found;
    }

    /** What the guard of a commit does in the transaction of another role. */
    private String pin() throws SQLException {
        PostgresLockBackend locks = backend(owner);
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

    private void checkFence() {
        DataSource connections = role.dataSource();
        new TransactionTemplate(new JdbcTransactionManager(connections))
                .executeWithoutResult(status -> new FenceGuard(connections).check("account:42", new Fence(7)));
    }

    private List<String> failures() throws SQLException {
        return failuresAmong(operations.of(backend(owner)).keySet());
    }

    private List<String> failuresAmong(Collection<String> names) throws SQLException {
        Map<String, PostgresOperations.Operation> all = operations.of(backend(role.dataSource()));
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

    private PostgresLockBackend backend(DataSource connections) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(connections);
        pool.setMaximumPoolSize(2);
        pool.setInitializationFailTimeout(-1);
        pool.setConnectionTimeout(1000);
        pools.add(pool);
        PostgresLockBackend backend = new PostgresLockBackend(
                pool,
                pool,
                connections,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(1),
                        Duration.ZERO,
                        false,
                        PostgresBatching.OFF,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {});
        backends.add(backend);
        return backend;
    }
}
