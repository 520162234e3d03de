package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

/** The script is replaced by a newer one, and by an older one again, while instances of the older version lock. */
class PostgresUpgradeTests {

    private static final long TTL_MILLIS = 600_000;

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final PostgresSchema schema = new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT);

    @BeforeEach
    void startWithTheFirstVersion() throws IOException {
        dataSource.setJdbcUrl(url);
        run("versions/syncguard_schema_1.sql");
    }

    @AfterEach
    void close() {
        dataSource.close();
    }

    @Test
    void an_instance_that_needs_the_next_version_refuses_the_first_and_names_the_script() {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(schema::check)
                .withMessageContaining("of an older version")
                .withMessageContaining("db/syncguard/postgresql/R__syncguard_schema.sql")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING));

        schema.initialize();

        schema.check();
    }

    @Test
    void an_instance_of_the_next_version_understands_the_functions_of_the_first_that_somebody_has_put_back() {
        String unknown = "unknown---------------";
        PostgresSettings settings =
                new PostgresSettings(PostgresTables.DEFAULT, Duration.ofSeconds(5), Duration.ZERO, false);
        try (PostgresLockBackend backend = new PostgresLockBackend(dataSource, dataSource, settings, () -> {})) {
            assertThat(backend.release(unknown)).isEqualTo(ReleaseOutcome.NOT_FOUND);
            assertThat(backend.extend(List.of(new Extension(unknown, Duration.ofSeconds(30)))))
                    .containsExactly(new ExtendOutcome.NotFound());
        }
    }

    @Test
    void a_lease_of_the_first_version_goes_on_in_the_next_with_its_fence() {
        OldInstance old = new OldInstance();
        assertThat(old.acquire("k", "old")).isEqualTo(1);
        List<Map<String, Object>> lease = jdbc.queryForList("SELECT * FROM syncguard_locks");

        schema.initialize();

        assertThat(jdbc.queryForList("SELECT * FROM syncguard_locks")).isEqualTo(lease);
        assertThat(old.acquire("k", "another")).isNull();
        assertThat(old.extend("old")).isTrue();
        assertThat(old.release("old")).isTrue();
        assertThat(old.acquire("k", "another")).isEqualTo(2);
    }

    @Test
    void operations_of_the_first_version_go_on_while_the_script_is_replaced() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        List<Long> fences = Collections.synchronizedList(new ArrayList<>());
        List<Future<Void>> instances = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String name = "instance " + i;
            instances.add(PostgresRace.start(() -> {
                OldInstance old = new OldInstance();
                assertThat(old.acquire("own of " + name, "own of " + name)).isEqualTo(1);
                for (int round = 0; !over.get(); round++) {
                    String lockId = name + " round " + round;
                    Long fence = old.acquire("shared", lockId);
                    if (fence != null) {
                        fences.add(fence);
                        assertThat(old.extend(lockId)).as("held").isTrue();
                        assertThat(old.release(lockId)).as("released").isTrue();
                        assertThat(old.release(lockId)).as("released again").isFalse();
                    }
                    assertThat(old.extend("own of " + name))
                            .as("held all the time")
                            .isTrue();
                    rounds.incrementAndGet();
                }
                return null;
            }));
        }

        for (int i = 0; i < 3; i++) {
            awaitMore(rounds, instances);
            run("db/syncguard/postgresql/R__syncguard_schema.sql");
            awaitMore(rounds, instances);
            run("db/syncguard/postgresql/R__syncguard_schema.sql");
            awaitMore(rounds, instances);
            // Somebody goes back to the older version, and new instances start together.
            run("versions/syncguard_schema_1.sql");
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

    /** As Flyway and others do: the file as one statement. */
    private void run(String script) throws IOException {
        String text = new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
        jdbc.execute(PostgresTables.DEFAULT.fill(text));
    }

    /** Sends what an instance of the first version sends, and understands its answers as that one does. */
    private final class OldInstance {

        Long acquire(String key, String lockId) {
            return jdbc.queryForObject(
                    """
                    SELECT granted_fence, granted_at_ms, granted_until_ms, time_left_ms
                    FROM syncguard_locks_acquire(?, ?, ?, ?, ?, ?)
                    """,
                    (row, number) -> row.getObject(1, Long.class),
                    key,
                    "fence:" + key,
                    lockId,
                    TTL_MILLIS,
                    key,
                    "old");
        }

        boolean extend(String lockId) {
            return jdbc.queryForObject(
                            "SELECT outcome, extended_until_ms FROM syncguard_locks_extend(?, ?)",
                            (row, number) -> row.getString(1),
                            new String[] {lockId},
                            new Long[] {TTL_MILLIS})
                    .equals("extended");
        }

        boolean release(String lockId) {
            return "released".equals(jdbc.queryForObject("SELECT syncguard_locks_release(?)", String.class, lockId));
        }
    }
}
