package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The connections of the locks: all of them are in use, or the server ends them. */
class ScarceConnectionsTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private final TestDatabase database = TestDatabase.withSchema();
    private final LockAudit audit = new LockAudit(database);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    @Test
    void a_caller_without_a_free_connection_gets_an_error_and_heartbeats_go_on() {
        Applications.on(database.url())
                .withPropertyValues(
                        "syncguard.postgres.pool-size=1",
                        "syncguard.postgres.network-timeout=1s",
                        "syncguard.shutdown-timeout=0s")
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    locks.acquire(ORDER).release();
                    LockHandle held = locks.acquire(LockRequest.of("held").ttl(Duration.ofMillis(1200)));

                    // The first two or so wait at the server for the row, and the others for a connection.
                    List<Throwable> failures = whileTheRowIsTaken(() -> IntStream.range(0, 8)
                            .mapToObj(i -> CompletableFuture.supplyAsync(
                                    () -> catchThrowable(() -> locks.acquire(ORDER)), threads))
                            .toList()
                            .stream()
                            .map(CompletableFuture::join)
                            .toList());

                    assertThat(failures)
                            .allSatisfy(failure -> assertThat(failure)
                                    .isInstanceOf(LockBackendException.class)
                                    .hasMessageContaining("'order:1'"));
                    assertThat(failures)
                            .extracting(failure -> ((LockException) failure).code())
                            .contains(LockErrorCode.RATE_LIMITED)
                            .containsOnly(LockErrorCode.RATE_LIMITED, LockErrorCode.NETWORK_TIMEOUT);
                    assertThat(held.isHeld()).isTrue();
                    assertThat(sessionsOf("held", "UPDATE"))
                            .as("heartbeats have a connection of their own")
                            .isNotEmpty()
                            .doesNotContainAnyElementsOf(sessionsOf("held", "INSERT"));
                    assertThat(held.release()).isTrue();
                    assertThat(locks.acquire(ORDER).release()).isTrue();
                });
    }

    @Tag("verification")
    @Test
    void sessions_that_are_ended_at_random_cost_errors_and_no_lock_and_no_connection() {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger grants = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.pool-size=2", "syncguard.shutdown-timeout=0s")
                .run(application -> {
                    LockTemplate locks = application.getBean(LockTemplate.class);
                    LockRequest patient = ORDER.waitTime(Duration.ofSeconds(30));
                    List<? extends Future<?>> workers = IntStream.range(0, 3)
                            .mapToObj(worker -> threads.submit(() -> {
                                while (!stop.get()) {
                                    Throwable failure = catchThrowable(() -> locks.execute(patient, lock -> {
                                        assertThat(inside.incrementAndGet()).isOne();
                                        grants.incrementAndGet();
                                        return inside.decrementAndGet();
                                    }));
                                    if (failure != null) {
                                        failures.add(failure);
                                    }
                                }
                            }))
                            .toList();
                    for (int ended = 0; ended < 20; ) {
                        int before = grants.get();
                        ended += endASession();
                        await().atMost(Duration.ofSeconds(30)).until(() -> grants.get() > before);
                    }
                    stop.set(true);
                    for (Future<?> worker : workers) {
                        worker.get();
                    }

                    assertThat(failures)
                            .allSatisfy(failure -> assertThat(failure)
                                    .isInstanceOfSatisfying(
                                            LockBackendException.class,
                                            ex -> assertThat(ex.code())
                                                    .isIn(
                                                            LockErrorCode.SERVICE_UNAVAILABLE,
                                                            LockErrorCode.RATE_LIMITED)));
                    await().atMost(Duration.ofSeconds(10))
                            .until(() -> database.lockedKeys().isEmpty());
                    // More at once than there are connections: this would fail if one were still in use.
                    for (int i = 0; i < 3; i++) {
                        assertWorks(locks);
                    }
                });
        await().atMost(Duration.ofSeconds(10)).until(() -> database.sessions() == 0);
    }

    private static void assertWorks(LockTemplate locks) {
        await().atMost(Duration.ofSeconds(10))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> locks.execute(ORDER, LockHandle::isHeld));
    }

    /** Returns how many were ended. */
    private int endASession() {
        return database.jdbc().queryForList("""
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1
                """).size();
    }

    private List<Integer> sessionsOf(String key, String operation) {
        return audit.of(key).stream()
                .filter(entry -> entry.operation().equals(operation))
                .map(LockAudit.Entry::pid)
                .toList();
    }

    private <T> T whileTheRowIsTaken(Supplier<T> work) throws Exception {
        try (Connection other = database.jdbc().getDataSource().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM syncguard_fence_counters WHERE key_debug = 'order:1' FOR UPDATE");
            return work.get();
        }
    }
}
