package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Attempt;
import io.syncguard.core.Claim;
import io.syncguard.core.Claims;
import io.syncguard.core.ExtendOutcome;
import io.syncguard.core.Extension;
import io.syncguard.core.ReleaseOutcome;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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

/** The script is replaced by a newer one, and by an older one again, while instances of both versions lock. */
class PostgresUpgradeTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final String NEWEST = PostgresSchema.LOCATION + "/R__syncguard_schema.sql";

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final PostgresSchema schema = new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT);
    private PostgresLockBackend backend;

    @BeforeEach
    void open() {
        dataSource.setJdbcUrl(url);
        PostgresSettings settings = new PostgresSettings(
                PostgresTables.DEFAULT, Duration.ofSeconds(60), PostgresSettings.PLACE_TTL, Duration.ZERO, false);
        backend = new PostgresLockBackend(dataSource, dataSource, null, settings, dataSource::close);
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void an_instance_that_needs_a_newer_version_refuses_the_older_and_names_the_script(int version) throws Exception {
        runVersion(version);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(schema::check)
                .withMessageContaining("of an older version")
                .withMessageContaining("db/syncguard/postgresql/R__syncguard_schema.sql")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING));

        schema.initialize();

        schema.check();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void a_newer_instance_understands_older_functions_that_somebody_has_put_back(int version) throws Exception {
        String unknown = "unknown---------------";
        schema.initialize();
        runVersion(version);

        assertThat(backend.release(unknown)).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(backend.extend(List.of(new Extension(unknown, Duration.ofSeconds(30)))))
                .containsExactly(new ExtendOutcome.NotFound());
        assertThat(new NewInstance().acquire("k", unknown)).isEqualTo(1);
        assertThat(new OldInstance().acquire("k", "old")).isNull();
        assertThat(backend.release(unknown)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void a_lease_of_an_older_version_goes_on_in_the_newer_with_its_fence(int version) throws Exception {
        runVersion(version);
        OldInstance old = new OldInstance();
        assertThat(old.acquire("k", "old")).isEqualTo(1);
        List<Map<String, Object>> lease = jdbc.queryForList("SELECT * FROM syncguard_locks");

        schema.initialize();

        assertThat(jdbc.queryForList("SELECT * FROM syncguard_locks")).isEqualTo(lease);
        assertThat(old.acquire("k", "another")).isNull();
        assertThat(new NewInstance().acquire("k", "another")).isNull();
        assertThat(old.extend("old")).isTrue();
        assertThat(old.release("old")).isTrue();
        assertThat(old.release("old")).isFalse();
        assertThat(old.acquire("k", "another")).isEqualTo(2);
    }

    /** They take part in the queue, though they cannot wait in it. */
    @Test
    void an_older_instance_passes_neither_readers_nor_those_who_wait() {
        schema.initialize();
        OldInstance old = new OldInstance();
        Claim reader = Claims.shared("k", "reader", TTL, "new");
        Claim writer = Claims.exclusive("k", "writer", TTL, "new").waitingAs(1);
        assertThat(backend.acquire(reader)).isInstanceOf(Attempt.Grant.class);
        assertThat(backend.acquire(writer)).isInstanceOf(Attempt.Queued.class);

        assertThat(old.acquire("k", "old")).as("beside a reader").isNull();
        assertThat(old.release("reader")).isTrue();
        assertThat(old.acquire("k", "old")).as("in front of a writer").isNull();
        assertThat(backend.acquire(writer)).isInstanceOf(Attempt.Grant.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void operations_of_both_versions_go_on_while_the_script_is_replaced(int version) throws Exception {
        runVersion(version);
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        List<Long> fences = Collections.synchronizedList(new ArrayList<>());
        List<Future<Void>> instances = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            instances.add(startLocking(new OldInstance(), "old instance " + i, fences, rounds, over));
        }
        awaitMore(rounds, instances);
        run(NEWEST);
        for (int i = 0; i < 2; i++) {
            instances.add(startLocking(new NewInstance(), "new instance " + i, fences, rounds, over));
        }

        for (int i = 0; i < 3; i++) {
            awaitMore(rounds, instances);
            run(NEWEST);
            awaitMore(rounds, instances);
            // Somebody goes back to the older version, and new instances start together.
            runVersion(version);
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
                .as("the own locks of the instances")
                .isEqualTo(4);
    }

    /** Or until one of them has failed. */
    private static void awaitMore(AtomicInteger rounds, List<Future<Void>> instances) {
        int before = rounds.get();
        Awaitility.await()
                .pollInterval(Duration.ofMillis(1))
                .atMost(Duration.ofSeconds(60))
                .until(() -> rounds.get() >= before + 8 || instances.stream().anyMatch(Future::isDone));
    }

    private static Future<Void> startLocking(
            Instance instance, String name, List<Long> fences, AtomicInteger rounds, AtomicBoolean over) {
        return PostgresRace.start(() -> {
            assertThat(instance.acquire("own of " + name, "own of " + name)).isEqualTo(1);
            for (int round = 0; !over.get(); round++) {
                String lockId = name + " round " + round;
                Long fence = instance.acquire("everybody's", lockId);
                if (fence != null) {
                    fences.add(fence);
                    assertThat(instance.extend(lockId)).as("held").isTrue();
                    assertThat(instance.release(lockId)).as("released").isTrue();
                    assertThat(instance.release(lockId)).as("released again").isFalse();
                }
                assertThat(instance.extend("own of " + name))
                        .as("held all the time")
                        .isTrue();
                rounds.incrementAndGet();
            }
            return null;
        });
    }

    private void runVersion(int version) throws IOException {
        run("versions/syncguard_schema_" + version + ".sql");
    }

    /** As Flyway and others do: the file as one statement. */
    private void run(String script) throws IOException {
        String text = new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
        jdbc.execute(PostgresTables.DEFAULT.fill(text));
    }

    private interface Instance {

        @Nullable
        Long acquire(String key, String lockId);

        boolean extend(String lockId);

        boolean release(String lockId);
    }

    private final class NewInstance implements Instance {

        @Override
        public @Nullable Long acquire(String key, String lockId) {
            return backend.acquire(Claims.exclusive(key, lockId, TTL, "new")) instanceof Attempt.Grant grant
                    ? grant.fence().value()
                    : null;
        }

        @Override
        public boolean extend(String lockId) {
            return backend.extend(List.of(new Extension(lockId, TTL))).get(0) instanceof ExtendOutcome.Extended;
        }

        @Override
        public boolean release(String lockId) {
            return backend.release(lockId) == ReleaseOutcome.RELEASED;
        }
    }

    /** Sends what instances of versions 1 and 2 send, and understands the answers as they do. */
    private final class OldInstance implements Instance {

        @Override
        public @Nullable Long acquire(String key, String lockId) {
            return jdbc.queryForObject(
                    """
                    SELECT granted_fence, granted_at_ms, granted_until_ms, time_left_ms
                    FROM syncguard_locks_acquire(?, ?, ?, ?, ?, ?)
                    """,
                    (row, number) -> row.getObject(1, Long.class),
                    key,
                    "fence:" + key,
                    lockId,
                    TTL.toMillis(),
                    key,
                    "old");
        }

        @Override
        public boolean extend(String lockId) {
            return jdbc.queryForObject(
                            "SELECT outcome, extended_until_ms FROM syncguard_locks_extend(?, ?)",
                            (row, number) -> row.getString(1),
                            new String[] {lockId},
                            new Long[] {TTL.toMillis()})
                    .equals("extended");
        }

        @Override
        public boolean release(String lockId) {
            return "released".equals(jdbc.queryForObject("SELECT syncguard_locks_release(?)", String.class, lockId));
        }
    }
}
