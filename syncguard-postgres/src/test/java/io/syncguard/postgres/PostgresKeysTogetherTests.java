package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.StatementCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.JdbcTemplate;

/** A call with several keys: what it costs, and that no two of them wait for each other. */
@Timeout(120)
class PostgresKeysTogetherTests {

    private static final String ELSEWHERE = "1---------------------";

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
    private final HikariDataSource pool = new HikariDataSource();
    private final StatementCounter callers = new StatementCounter(pool, statement -> {});
    private final StatementCounter engine = new StatementCounter(pool, statement -> {});

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void ten_free_keys_are_one_statement_and_their_release_is_another() {
        try (LockEngine locks = counted()) {
            all(locks, numbered(10), () -> {});
            int before = callers.statements().size();
            List<String> during = new ArrayList<>();

            all(locks, numbered(10), () -> {
                assertThat(lockedKeys()).hasSize(10);
                during.addAll(statementsSince(before));
            });

            assertThat(during).singleElement().asString().contains("_acquire_together(");
            assertThat(statementsSince(before + 1)).singleElement().asString().contains("_release_batch(");
            assertThat(lockedKeys()).isEmpty();
            assertThat(engine.statements()).isEmpty();
        }
    }

    @Test
    void keys_that_were_never_locked_before_are_one_statement_too() {
        try (LockEngine locks = counted()) {
            warmUp(locks);
            int before = callers.statements().size();

            all(locks, numbered(10), () -> {});

            assertThat(statementsSince(before)).hasSize(2);
        }
    }

    @Test
    void a_thousand_keys_are_one_statement_and_their_releases_one_for_each_64() {
        try (LockEngine locks = counted()) {
            warmUp(locks);
            int before = callers.statements().size();

            all(locks, numbered(1000), () -> assertThat(lockedKeys()).hasSize(1000));

            assertThat(statementsSince(before)).hasSize(1 + 16);
            assertThat(lockedKeys()).isEmpty();
        }
    }

    @Test
    void a_call_that_meets_a_taken_key_waits_for_it_alone_and_then_takes_the_rest_together() throws Exception {
        try (LockEngine locks = counted()) {
            warmUp(locks);
            List<String> keys = numbered(10);
            int[] before = new int[1];
            try (StoreCalls server = PooledPostgres.on(url)) {
                server.acquire(elsewhere(keys.get(5)));
                before[0] = callers.statements().size();
                CompletableFuture<Void> call = CompletableFuture.runAsync(
                        () -> all(locks, keys, () -> assertThat(lockedKeys()).hasSize(10)));
                await().until(() -> waiters() == 1 && lockedKeys().equals(keys.subList(0, 6)));
                server.release(ELSEWHERE);

                call.get(30, TimeUnit.SECONDS);
            }
            assertThat(statementsSince(before[0]))
                    .filteredOn(statement -> statement.contains("_acquire_together("))
                    .as("all ten, and the four behind the taken one")
                    .hasSize(2);
            assertThat(lockedKeys()).isEmpty();
        }
    }

    @Test
    void a_refusal_in_the_middle_leaves_all_the_others_free() {
        try (LockEngine locks = counted()) {
            List<String> keys = numbered(10);
            try (StoreCalls server = PooledPostgres.on(url)) {
                server.acquire(elsewhere(keys.get(5)));

                assertThatThrownBy(() -> locks.acquire(requests(keys, Duration.ZERO)))
                        .isInstanceOfSatisfying(
                                LockNotAcquiredException.class,
                                ex -> assertThat(ex.key()).isEqualTo(keys.get(5)));

                assertThat(lockedKeys()).containsExactly(keys.get(5));
            }
        }
    }

    @Test
    void calls_with_crossing_keys_all_end_without_a_refusal() {
        try (LockEngine one = process(PooledPostgres.on(url));
                LockEngine two = process(PooledPostgres.on(url))) {
            List<CompletableFuture<?>> threads = IntStream.range(0, 4)
                    .<CompletableFuture<?>>mapToObj(i -> CompletableFuture.runAsync(
                            () -> lockRandomly(i % 2 == 0 ? one : two, new Random(i)),
                            task -> new Thread(task, "crossing-" + i).start()))
                    .toList();

            // A circle of two calls would end only with the wait time.
            await().atMost(Duration.ofSeconds(45)).until(() -> threads.stream().allMatch(CompletableFuture::isDone));
            assertThat(threads).allSatisfy(thread -> assertThat(thread).isCompleted());
            await().until(() -> lockedKeys().isEmpty());
        }
    }

    private static void lockRandomly(LockEngine process, Random random) {
        for (int i = 0; i < 40; i++) {
            List<String> keys = new ArrayList<>(numbered(10));
            Collections.shuffle(keys, random);
            all(process, keys.subList(0, 5), () -> {});
        }
    }

    private static void all(LockEngine locks, List<String> keys, Runnable body) {
        new LockTemplate(locks).executeWithoutResult(requests(keys, Duration.ofSeconds(60)), held -> body.run());
    }

    private static List<LockRequest> requests(List<String> keys, Duration waitTime) {
        return keys.stream().map(key -> LockRequest.of(key).waitTime(waitTime)).toList();
    }

    private LockEngine counted() {
        pool.setJdbcUrl(url);
        new PostgresSchema(pool, PostgresTables.DEFAULT).initialize();
        PostgresSettings settings = new PostgresSettings(
                PostgresTables.DEFAULT,
                Duration.ofSeconds(5),
                PostgresSettings.WAITER_TTL,
                Duration.ZERO,
                false,
                FenceSettings.from(FenceSource.COUNTER));
        return process(new PostgresLockBackend(callers, engine, null, settings, () -> {}));
    }

    private static LockEngine process(LockBackend backend) {
        return new LockEngine(backend, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
    }

    private static AcquireRequest elsewhere(String key) {
        return Requests.exclusive(key, ELSEWHERE, Duration.ofMinutes(1), "elsewhere");
    }

    /** The first statement on a connection has others before it. */
    private static void warmUp(LockEngine locks) {
        all(locks, List.of("x", "y"), () -> {});
    }

    private List<String> statementsSince(int before) {
        List<String> all = callers.statements();
        return all.subList(before, all.size());
    }

    private List<String> lockedKeys() {
        return jdbc.queryForList("SELECT key FROM syncguard_locks ORDER BY key", String.class);
    }

    private int waiters() {
        return jdbc.queryForObject("SELECT count(*) FROM syncguard_locks_waiters", Integer.class);
    }

    private static List<String> numbered(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(n -> String.format(Locale.ROOT, "key-%04d", n))
                .toList();
    }
}
