package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresServer;
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
import org.springframework.jdbc.core.JdbcTemplate;

/** A start of a newer version runs the script while instances lock. */
class PostgresUpgradeTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final String NEWER = new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER).text();

    /** An older version with the same signatures, as far as an instance sees: it runs its own script at its start. */
    private static final String OLDER = NEWER + """
            CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER
            LANGUAGE sql IMMUTABLE AS 'SELECT 1';
            CREATE OR REPLACE FUNCTION syncguard_locks_poll(p_ttl_ms BIGINT) RETURNS BIGINT
            LANGUAGE sql STABLE AS 'SELECT p_ttl_ms / 2';
            """;

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final PostgresSchema schema = new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT);
    private StoreCalls backend;

    @BeforeEach
    void open() {
        dataSource.setJdbcUrl(url);
        PostgresSettings settings = new PostgresSettings(
                PostgresTables.DEFAULT,
                Duration.ofSeconds(60),
                PostgresSettings.WAITER_TTL,
                Duration.ZERO,
                false,
                FenceSettings.from(FenceSource.COUNTER));
        backend = new StoreCalls(new PostgresLockBackend(dataSource, dataSource, null, settings, dataSource::close));
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void a_start_replaces_the_functions_of_an_older_version_and_keeps_leases_queues_and_fences() {
        jdbc.execute(OLDER);
        AcquireRequest waiter = Requests.exclusive("k", "waiter", TTL, "waits").waitingAs(1);
        assertThat(acquire("k", "holder")).isEqualTo(1);
        assertThat(backend.acquire(waiter)).isInstanceOf(AcquireResult.Queued.class);
        List<Map<String, Object>> leases = jdbc.queryForList("SELECT * FROM syncguard_locks");

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(schema::check)
                .withMessageContaining("of an older version")
                .withMessageContaining("db/syncguard/postgresql/R__syncguard_schema.sql")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING));

        schema.initialize();

        schema.check();
        assertThat(jdbc.queryForObject("SELECT syncguard_locks_poll(600)", Long.class))
                .isEqualTo(200);
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

    @Test
    void operations_go_on_while_the_script_of_the_same_version_is_run_again() throws Exception {
        jdbc.execute(NEWER);
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        List<Long> fences = Collections.synchronizedList(new ArrayList<>());
        List<Future<Void>> instances = IntStream.range(0, 4)
                .mapToObj(i -> startLocking("instance " + i, fences, rounds, over))
                .toList();

        for (int i = 0; i < 3; i++) {
            awaitMore(rounds, instances);
            jdbc.execute(NEWER);
            awaitMore(rounds, instances);
            // The next instances start together, and each of them believes that it has to run the script.
            jdbc.execute(OLDER);
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
        return backend.acquire(Requests.exclusive(key, lockId, TTL, "test")) instanceof AcquireResult.Granted grant
                ? grant.fence().value()
                : null;
    }

    private boolean extend(String lockId) {
        return backend.extendAll(List.of(Requests.extension(lockId, TTL))).get(0) instanceof ExtendResult.Extended;
    }

    private boolean release(String lockId) {
        return backend.release(lockId).outcome() == ReleaseResult.Outcome.RELEASED;
    }
}
