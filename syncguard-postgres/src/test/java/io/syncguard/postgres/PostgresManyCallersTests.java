package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many threads on the few connections that an application gives its locks. */
class PostgresManyCallersTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(60);

    private final String url = PostgresServer.newDatabaseUrl();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @ParameterizedTest
    @EnumSource(
            value = PostgresBatching.class,
            names = {"AUTO", "ALWAYS"})
    void a_stuck_key_holds_up_no_other_key(PostgresBatching batching) throws Exception {
        try (StoreCalls backend = PooledPostgres.on(url, 4, NETWORK_TIMEOUT, batching);
                Connection application = PostgresServer.dataSource(url).getConnection()) {
            acquireAndRelease(backend, "stuck", "first");
            application.setAutoCommit(false);
            lockCounter(application, "fence:stuck");

            List<Future<AcquireResult>> stuck = startAll(
                    20, caller -> backend.acquire(Requests.exclusive("stuck", "stuck " + caller, TTL, "test")));
            List<Future<Long>> others = startAll(20, caller -> slowestOf(50, backend, "key " + caller));
            long slowest = Collections.max(all(others));

            assertThat(stuck).noneMatch(Future::isDone);
            assertThat(Duration.ofNanos(slowest))
                    .as("a locked row would have held it up until the end of the test")
                    .isLessThan(Duration.ofSeconds(10));
            application.commit();
            assertThat(all(stuck))
                    .filteredOn(AcquireResult.Granted.class::isInstance)
                    .hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = PostgresBatching.class,
            names = {"AUTO", "ALWAYS"})
    void a_stuck_key_of_readers_holds_up_no_other_key(PostgresBatching batching) throws Exception {
        try (StoreCalls backend = PooledPostgres.on(url, 4, NETWORK_TIMEOUT, batching);
                Connection application = PostgresServer.dataSource(url).getConnection()) {
            List<AcquireRequest> readers = IntStream.range(0, 20)
                    .mapToObj(reader -> Requests.shared("stuck", lockId(backend, "stuck", reader), TTL, "test"))
                    .toList();
            readers.forEach(reader -> backend.acquire(reader));
            application.setAutoCommit(false);
            lockCounter(application, "fence:stuck");

            List<Future<ReleaseResult>> leaving =
                    startAll(20, caller -> backend.release(readers.get(caller).lockId()));
            List<Future<AcquireResult>> entering = startAll(
                    20,
                    caller -> backend.acquire(
                            Requests.shared("stuck", lockId(backend, "stuck", 100 + caller), TTL, "test")));
            List<Future<Long>> others = startAll(20, caller -> slowestOf(50, backend, "key " + caller));
            long slowest = Collections.max(all(others));

            assertThat(leaving).noneMatch(Future::isDone);
            assertThat(entering).noneMatch(Future::isDone);
            assertThat(Duration.ofNanos(slowest))
                    .as("a locked row would have held it up until the end of the test")
                    .isLessThan(Duration.ofSeconds(10));
            application.commit();
            assertThat(all(leaving)).containsOnly(ReleaseResult.RELEASED);
            assertThat(all(entering)).hasOnlyElementsOfType(AcquireResult.Granted.class);
        }
    }

    private static String lockId(StoreCalls backend, String key, int number) {
        return backend.lockIdFor(key, String.format(Locale.ROOT, "%022d", number));
    }

    @Test
    void hundreds_of_threads_share_four_connections() throws Exception {
        try (StoreCalls backend = PooledPostgres.on(url, 4, Duration.ofSeconds(10))) {
            List<Future<Long>> callers = startAll(500, caller -> slowestOf(4, backend, "key " + caller));

            assertThat(all(callers)).hasSize(500);
        }
    }

    /** Acquires and releases a key so many times. Returns the longest time of a pair, in nanoseconds. */
    private static long slowestOf(int pairs, StoreCalls backend, String key) {
        long slowest = 0;
        for (int i = 0; i < pairs; i++) {
            long began = System.nanoTime();
            acquireAndRelease(backend, key, key + " " + i);
            slowest = Math.max(slowest, System.nanoTime() - began);
        }
        return slowest;
    }

    private static void acquireAndRelease(StoreCalls backend, String key, String lockId) {
        assertThat(backend.acquire(Requests.exclusive(key, lockId, TTL, "test")))
                .isInstanceOf(AcquireResult.Granted.class);
        assertThat(backend.release(lockId)).isEqualTo(ReleaseResult.RELEASED);
    }

    private static void lockCounter(Connection connection, String fenceKey) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT FROM syncguard_fence_counters WHERE fence_key = '" + fenceKey + "' FOR UPDATE");
        }
    }

    private interface Caller<T> {
        T call(int number);
    }

    private <T> List<Future<T>> startAll(int count, Caller<T> caller) {
        return IntStream.range(0, count)
                .mapToObj(number -> threads.submit((Callable<T>) () -> caller.call(number)))
                .toList();
    }

    private static <T> List<T> all(List<Future<T>> futures) throws Exception {
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get());
        }
        return results;
    }
}
