package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.UsualBuild;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A crowd at one key, on the default pool: each caller is served, or refused by its own wait time. */
class PostgresCrowdTests {

    private static final String KEY = "k";
    private static final String SERVED = "served";
    private static final String REFUSED = LockNotAcquiredException.class.getSimpleName();
    private static final long PATIENCE_SECONDS = 60;

    private final String url = PostgresServer.newDatabaseUrl();
    private final LockEngine engine = engine();
    private final LockEngine others = engine();

    /** Fences of the callers, in the order in which they held the key. */
    private final List<Long> fences = Collections.synchronizedList(new ArrayList<>());

    static Stream<Crowd> crowds() {
        return UsualBuild.first(
                1,
                Stream.of(new Crowd(200, false), new Crowd(2000, false), new Crowd(2000, true))
                        .filter(Crowd::isPossible));
    }

    record Crowd(int size, boolean isVirtual) {

        boolean isPossible() {
            return !isVirtual || Runtime.version().feature() >= 21;
        }

        ExecutorService threads() {
            try {
                return isVirtual
                        ? (ExecutorService) Executors.class
                                .getMethod("newVirtualThreadPerTaskExecutor")
                                .invoke(null)
                        : Executors.newFixedThreadPool(size);
            } catch (ReflectiveOperationException ex) {
                throw new AssertionError(ex);
            }
        }
    }

    @AfterEach
    void end() {
        engine.close();
        others.close();
    }

    @ParameterizedTest
    @MethodSource("crowds")
    void a_crowd_that_comes_at_once_is_served_or_runs_out_of_its_own_time(Crowd crowd) throws Exception {
        Map<String, Long> outcomes = outcomes(crowd, Duration.ofSeconds(5), this::holdBriefly, () -> {});

        assertThat(outcomes).containsOnlyKeys(possible(outcomes)).containsKey(SERVED);
        assertThat(fences).isSorted().doesNotHaveDuplicates();
    }

    @Tag("verification")
    @ParameterizedTest
    @MethodSource("crowds")
    void a_crowd_of_two_processes_is_served_or_runs_out_of_its_own_time(Crowd crowd) throws Exception {
        AtomicInteger callers = new AtomicInteger();
        Map<String, Long> outcomes = outcomes(
                crowd,
                Duration.ofSeconds(5),
                request -> holdBriefly(callers.getAndIncrement() % 2 == 0 ? engine : others, request),
                () -> {});

        assertThat(outcomes).containsOnlyKeys(possible(outcomes)).containsKey(SERVED);
        assertThat(fences).isSorted().doesNotHaveDuplicates();
    }

    @Tag("verification")
    @ParameterizedTest
    @MethodSource("crowds")
    void last_attempts_at_one_moment_are_all_refused(Crowd crowd) throws Exception {
        try (LockHandle held = others.acquire(LockRequest.of(KEY))) {
            Map<String, Long> outcomes = outcomes(crowd, Duration.ofSeconds(2), this::holdBriefly, () -> {});

            assertThat(outcomes).containsExactly(Map.entry(REFUSED, (long) crowd.size));
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(others.admin().status(KEY)).isEmpty();
    }

    @Tag("verification")
    @ParameterizedTest
    @MethodSource("crowds")
    void a_crowd_that_has_to_look_again_at_once_is_served_or_runs_out_of_its_own_time(Crowd crowd) throws Exception {
        LockHandle held = others.acquire(LockRequest.of(KEY));
        Map<String, Long> outcomes = outcomes(crowd, Duration.ofSeconds(10), this::holdBriefly, () -> {
            awaitWaiters(crowd.size);
            terminateListeners();
            held.close();
        });

        assertThat(outcomes).containsOnlyKeys(possible(outcomes)).containsKey(SERVED);
        assertThat(fences).isSorted().doesNotHaveDuplicates();
    }

    @Tag("verification")
    @ParameterizedTest
    @MethodSource("crowds")
    void readers_behind_a_writer_enter_together(Crowd crowd) throws Exception {
        LockHandle held = others.acquire(LockRequest.of(KEY));
        CountDownLatch entered = new CountDownLatch(crowd.size);
        Map<String, Long> outcomes = outcomes(
                crowd,
                Duration.ofSeconds(30),
                request -> {
                    try (LockHandle handle = engine.acquire(request.shared())) {
                        entered.countDown();
                        assertThat(entered.await(PATIENCE_SECONDS, TimeUnit.SECONDS))
                                .isTrue();
                        return handle.isHeld() ? SERVED : "lost";
                    } catch (InterruptedException ex) {
                        throw new AssertionError(ex);
                    }
                },
                () -> {
                    awaitWaiters(crowd.size);
                    held.close();
                });

        assertThat(outcomes).containsExactly(Map.entry(SERVED, (long) crowd.size));
    }

    private static String[] possible(Map<String, Long> outcomes) {
        return Stream.of(SERVED, REFUSED).filter(outcomes::containsKey).toArray(String[]::new);
    }

    private String holdBriefly(LockRequest request) {
        return holdBriefly(engine, request);
    }

    private String holdBriefly(LockEngine process, LockRequest request) {
        try (LockHandle handle = process.acquire(request)) {
            fences.add(handle.fence().value());
            return SERVED;
        }
    }

    /** How many callers ended in which way. */
    private Map<String, Long> outcomes(
            Crowd crowd, Duration waitTime, Function<LockRequest, String> caller, Runnable meanwhile) throws Exception {
        LockRequest request = LockRequest.of(KEY).waitTime(waitTime);
        CountDownLatch ready = new CountDownLatch(crowd.size);
        CountDownLatch start = new CountDownLatch(1);
        ExecutorService threads = crowd.threads();
        try {
            List<Future<String>> callers = new ArrayList<>();
            for (int i = 0; i < crowd.size; i++) {
                callers.add(threads.submit(() -> {
                    ready.countDown();
                    start.await();
                    return outcome(caller, request);
                }));
            }
            ready.await();
            start.countDown();
            meanwhile.run();
            List<String> ended = new ArrayList<>();
            for (Future<String> each : callers) {
                ended.add(each.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }
            return ended.stream().collect(Collectors.groupingBy(each -> each, Collectors.counting()));
        } finally {
            threads.shutdownNow();
        }
    }

    private static String outcome(Function<LockRequest, String> caller, LockRequest request) {
        try {
            return caller.apply(request);
        } catch (LockNotAcquiredException ex) {
            return REFUSED;
        } catch (RuntimeException ex) {
            return ex.toString();
        }
    }

    private void awaitWaiters(int count) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(PATIENCE_SECONDS))
                .until(() -> database("SELECT count(*) FROM syncguard_locks_waiters") == count);
    }

    private void terminateListeners() {
        database("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND query LIKE 'LISTEN%'");
    }

    private int database(String query) {
        return new JdbcTemplate(PostgresServer.dataSource(url)).queryForObject(query, Integer.class);
    }

    private LockEngine engine() {
        LockEngine made =
                new LockEngine(PooledPostgres.on(url), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
        made.start();
        return made;
    }
}
