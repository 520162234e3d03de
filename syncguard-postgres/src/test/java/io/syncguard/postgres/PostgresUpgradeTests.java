package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.core.AcquireRequests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A newer version replaces the script while instances lock. */
class PostgresUpgradeTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final String NEWER = read(PostgresScript.LOCATION + "/R__syncguard_schema.sql");

    /** Version 3. A version whose functions change keeps the script before it among the test resources, as this one. */
    private static final String OLDER = read("io/syncguard/postgres/version-3.sql");

    /** The same functions, which an instance takes for those of an older version: it runs its script at its start. */
    private static final String OUTDATED = NEWER + """
            CREATE OR REPLACE FUNCTION ${syncguard_locks}_version() RETURNS INTEGER
            LANGUAGE sql IMMUTABLE AS $function$
                SELECT 1
            $function$;
            """;

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final PostgresSchema schema = new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT);
    private PostgresLockBackend backend;

    @BeforeEach
    void open() {
        dataSource.setJdbcUrl(url);
        PostgresSettings settings = new PostgresSettings(
                PostgresTables.DEFAULT,
                Duration.ofSeconds(60),
                PostgresSettings.WAITER_TTL,
                Duration.ZERO,
                false,
                PostgresBatching.AUTO,
                FenceSettings.from(FenceSource.COUNTER));
        backend = new PostgresLockBackend(dataSource, dataSource, null, settings, dataSource::close);
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void an_instance_that_needs_a_newer_version_refuses_the_older_and_names_the_script() {
        run(OLDER);

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(schema::check)
                .withMessageContaining("of an older version")
                .withMessageContaining("db/syncguard/postgresql/R__syncguard_schema.sql")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING));

        schema.initialize();

        schema.check();
    }

    @Test
    void leases_and_queues_of_an_older_version_go_on_in_the_newer_with_their_fences() {
        run(OLDER);
        AcquireRequest waiter =
                AcquireRequests.exclusive("k", "waiter", TTL, "waits").waitingAs(1);
        jdbc.execute(
                "SELECT syncguard_locks_acquire('k', false, 'holder', 600000, 'test', false, NULL, NULL, NULL, NULL, NULL)");
        jdbc.execute("SELECT syncguard_locks_acquire('k', false, 'waiter', 600000, 'waits',"
                + " false, 1, 600000, false, 'channel', NULL)");
        List<Map<String, Object>> leases = jdbc.queryForList("SELECT * FROM syncguard_locks");

        schema.initialize();

        assertThat(jdbc.queryForList("SELECT * FROM syncguard_locks")).isEqualTo(leases);
        assertThat(acquire("k", "another")).isNull();
        assertThat(extend("holder")).isTrue();
        assertThat(release("holder")).isTrue();
        assertThat(acquire("k", "another")).as("in front of a waiter").isNull();
        assertThat(backend.acquire(waiter.fromQueue()))
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence().value()).isEqualTo(2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM syncguard_locks_acquire('k'::TEXT, false, 'id'::TEXT, 600000, ''::TEXT, false, 1, 5000,"
                        + " true, 'c'::TEXT, ''::TEXT)",
                "SELECT * FROM syncguard_locks_acquire_readers(ARRAY['k'], ARRAY['id'], ARRAY[600000], ARRAY[''],"
                        + " ARRAY[false], ARRAY[1], ARRAY[''], ARRAY[true], 5000, 'c'::TEXT)",
                "CALL syncguard_locks_queue_and_hand_over('id'::TEXT, NULL::TEXT, true, 'k'::TEXT, ARRAY['id'],"
                        + " ARRAY[false], ARRAY[''], ARRAY[1], ARRAY[''], ARRAY[true], 5000, NULL::TEXT,"
                        + " NULL::BIGINT[], NULL::BOOLEAN)"
            })
    void a_call_of_an_older_instance_fails_and_says_that_there_is_another_version(String call) throws SQLException {
        run(OLDER);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(call)) {
            // The driver keeps a statement at the server after some calls.
            for (int i = 0; i < 8; i++) {
                statement.execute();
            }

            schema.initialize();

            assertThat(catchThrowable(statement::execute))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            ex -> assertThat(PostgresErrors.translate("locking", ex))
                                    .hasMessageContaining("of another version")
                                    .hasMessageContaining("replace this instance")
                                    .satisfies(failure ->
                                            assertThat(failure.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING)));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "released FROM syncguard_locks_release_all(ARRAY['id']) AS r (released)",
                "CASE released WHEN 'id' THEN 'released' END FROM syncguard_locks_release_batch(ARRAY['id']) AS r (released)",
                "syncguard_locks_release('id')"
            })
    void a_holder_of_an_older_instance_keeps_its_lease_and_can_give_it_back(String release) {
        run(OLDER);
        jdbc.execute(
                "SELECT syncguard_locks_acquire('k', false, 'id', 600000, 'test', false, NULL, NULL, NULL, NULL, NULL)");

        schema.initialize();

        assertThat(acquire("k", "another")).isNull();
        assertThat(jdbc.queryForObject(
                        "SELECT outcome FROM syncguard_locks_extend(ARRAY['id'], ARRAY[600000])", String.class))
                .isEqualTo("extended");
        assertThat(jdbc.queryForObject("SELECT " + release, String.class)).isEqualTo("released");
        assertThat(acquire("k", "another")).isEqualTo(2);
    }

    @Test
    void after_a_return_to_the_older_script_instances_of_both_versions_work() {
        run(OLDER);
        schema.initialize();
        run(OLDER);

        jdbc.execute(
                "SELECT syncguard_locks_acquire('k', false, 'older', 600000, 'test', false, NULL, NULL, NULL, NULL, NULL)");
        assertThat(acquire("k", "newer")).isNull();
        assertThat(release("older")).isTrue();
        assertThat(acquire("k", "newer")).isEqualTo(2);
        jdbc.execute("CALL syncguard_locks_hand_over('newer', NULL, true, NULL, NULL)");
        assertThat(acquire("k", "newest")).isEqualTo(3);
    }

    @Test
    void operations_go_on_while_the_script_of_the_same_version_is_run_again() throws Exception {
        run(NEWER);
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        List<Long> fences = Collections.synchronizedList(new ArrayList<>());
        List<Future<Void>> instances = IntStream.range(0, 4)
                .mapToObj(i -> startLocking("instance " + i, fences, rounds, over))
                .toList();

        for (int i = 0; i < 3; i++) {
            awaitMore(rounds, instances);
            run(NEWER);
            awaitMore(rounds, instances);
            // The next instances start together, and each of them believes that it has to run the script.
            run(OUTDATED);
            awaitMore(rounds, instances);
            List<Future<Void>> starts = IntStream.range(0, 3)
                    .mapToObj(start -> PostgresRace.<Void>start(() -> {
                        schema.initialize();
                        return null;
                    }))
                    .toList();
            for (Future<Void> start : starts) {
                start.get();
            }
        }
        awaitMore(rounds, instances);
        over.set(true);
        for (Future<Void> instance : instances) {
            instance.get();
        }

        // The lock itself keeps the list in order.
        assertThat(fences).isNotEmpty().isSorted().doesNotHaveDuplicates();
        assertThat(fences.get(fences.size() - 1)).isEqualTo(fences.size());
        assertThat(jdbc.queryForObject(
                        "SELECT count(*) FROM syncguard_locks WHERE expires_at_ms > syncguard_locks_now()",
                        Integer.class))
                .as("the separate locks of the instances")
                .isEqualTo(4);
    }

    /** Waits, or stops when one instance has failed. */
    private static void awaitMore(AtomicInteger rounds, List<Future<Void>> instances) {
        int before = rounds.get();
        Awaitility.await()
                .pollInterval(Duration.ofMillis(1))
                .atMost(Duration.ofSeconds(60))
                .until(() -> rounds.get() >= before + 8 || instances.stream().anyMatch(Future::isDone));
    }

    private Future<Void> startLocking(String name, List<Long> fences, AtomicInteger rounds, AtomicBoolean over) {
        return PostgresRace.start(() -> {
            assertThat(acquire("own of " + name, "own of " + name)).isEqualTo(1);
            for (int round = 0; !over.get(); round++) {
                String lockId = name + " round " + round;
                Long fence = acquire("everybody's", lockId);
                if (fence != null) {
                    fences.add(fence);
                    assertThat(extend(lockId)).as("held").isTrue();
                    assertThat(release(lockId)).as("released").isTrue();
                    assertThat(release(lockId)).as("released again").isFalse();
                }
                assertThat(extend("own of " + name)).as("held all the time").isTrue();
                rounds.incrementAndGet();
            }
            return null;
        });
    }

    private @Nullable Long acquire(String key, String lockId) {
        return backend.acquire(AcquireRequests.exclusive(key, lockId, TTL, "test"))
                        instanceof AcquireResult.Granted grant
                ? grant.fence().value()
                : null;
    }

    private boolean extend(String lockId) {
        return backend.extend(List.of(new ExtendRequest(lockId, TTL))).get(0) instanceof ExtendResult.Extended;
    }

    private boolean release(String lockId) {
        return backend.release(lockId).outcome() == ReleaseResult.Outcome.RELEASED;
    }

    /** Runs the file as one statement, as Flyway and others do. */
    private void run(String script) {
        jdbc.execute(PostgresTables.DEFAULT.fill(script).replace("${syncguard_fence_source}", "counter"));
    }

    private static String read(String path) {
        try {
            return new ClassPathResource(path).getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
