package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Callers who wait for a real server, its driver or its pool: the waits end in time, can be interrupted, and never
 * spin.
 */
class PostgresWaitTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private static String url;

    private final AtomicBoolean flag = new AtomicBoolean();
    private EngineFixture fixture;
    private LockEngine locks;
    private OtherSession other;

    @BeforeAll
    static void makeDatabase() {
        url = PostgresServer.newDatabaseUrl();
    }

    @BeforeEach
    void open() {
        // One connection, so that a second operation waits for it in the pool.
        fixture = new EngineFixture(PooledPostgres.on(url, 1, Duration.ofMinutes(1)));
        locks = fixture.engine;
        other = new OtherSession(url);
        other.jdbc().execute("TRUNCATE syncguard_locks, syncguard_locks_waiters, syncguard_fence_counters");
    }

    @AfterEach
    void close() {
        other.close();
        fixture.close();
    }

    @Test
    void a_waiter_in_front_of_a_lapsed_row_that_stays_pinned_pauses_and_gives_up_in_time() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        other.jdbc().update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000");
        other.run("SELECT FROM syncguard_locks FOR KEY SHARE");

        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST.waitTime(Duration.ofSeconds(2))));
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(10));
            return waiter.isDone();
        });

        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockNotAcquiredException.class);
        assertThat(fixture.backend.acquires).hasValueLessThan(45);
        assertThat(other.jdbc().queryForObject("SELECT fence FROM syncguard_fence_counters", Long.class))
                .as("refusals draw no fence")
                .isEqualTo(1);
    }

    /** Spring Integration repeated failing statements for ten seconds without a pause. */
    @Test
    void a_server_on_which_every_attempt_fails_is_asked_once() {
        other.jdbc().execute("""
                CREATE FUNCTION fail() RETURNS TRIGGER LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''as the test wants it'' USING ERRCODE = ''40001''; END';
                CREATE TRIGGER fail BEFORE INSERT ON syncguard_locks FOR EACH ROW EXECUTE FUNCTION fail();
                """);
        try {
            FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST));
            eventually().until(() -> {
                fixture.time.advance(Duration.ofMillis(20));
                return waiter.isDone();
            });
            assertThatThrownBy(waiter::get)
                    .cause()
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
        } finally {
            other.jdbc().execute("DROP FUNCTION fail() CASCADE");
        }
        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(other.jdbc().queryForList("SELECT fence FROM syncguard_fence_counters"))
                .isEmpty();
    }

    @Test
    void an_interrupt_in_the_driver_ends_the_wait_as_soon_as_the_server_refuses() throws Exception {
        fixture.releaseElsewhere(fixture.holdElsewhere("order:42", EngineFixture.TTL));
        other.run("SELECT FROM syncguard_fence_counters FOR UPDATE");
        Interruptible<LockHandle> waiter = interruptible(() -> locks.acquire(REQUEST.waitTime(Duration.ofHours(1))));
        other.awaitWaiter();

        waiter.thread().interrupt();
        other.run("INSERT INTO syncguard_locks VALUES ('order:42', 'theirs', syncguard_locks_now() + 30000,"
                + " syncguard_locks_now(), '000000000000002', 'order:42', 'other')");
        other.commit();

        waiter.assertAborted();
        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(lockIds()).isEqualTo("theirs");
    }

    @Test
    void an_interrupt_in_the_pool_ends_the_wait_at_once_and_nothing_is_held() throws Exception {
        fixture.releaseElsewhere(fixture.holdElsewhere("order:43", EngineFixture.TTL));
        other.run("SELECT FROM syncguard_fence_counters FOR UPDATE");
        FutureTask<LockHandle> first = inAnotherThread(() -> locks.acquire(LockRequest.of("order:43")));
        other.awaitWaiter();
        Interruptible<LockHandle> second = interruptible(() -> locks.acquire(REQUEST));
        eventually().until(() -> isInPool(second.thread()));

        second.thread().interrupt();

        second.assertAborted();
        assertThat(first).as("the connection is still taken").isNotDone();
        other.rollback();
        assertThat(first.get().release()).isTrue();
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(20));
            return lockIds().isEmpty();
        });
    }

    @Test
    void an_interrupt_in_the_pool_does_not_make_a_release_late() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.releaseElsewhere(fixture.holdElsewhere("order:43", EngineFixture.TTL));
        other.run("SELECT FROM syncguard_fence_counters WHERE key_debug = 'order:43' FOR UPDATE");
        FutureTask<LockHandle> first = inAnotherThread(() -> locks.acquire(LockRequest.of("order:43")));
        other.awaitWaiter();
        Interruptible<Boolean> release = interruptible(lock::release);
        eventually().until(() -> isInPool(release.thread()));

        for (int i = 0; i < 20; i++) {
            release.thread().interrupt();
            eventually().until(() -> isInPool(release.thread()));
        }

        other.rollback();
        LockHandle next = first.get();
        assertThat(release.result().get()).isTrue();
        assertThat(flag).isTrue();
        assertThat(lockIds())
                .as("the key is free when the release has answered")
                .isEqualTo(next.lockId());
        assertThat(next.release()).isTrue();
    }

    private static boolean isInPool(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().endsWith("ConcurrentBag") && thread.getState() == Thread.State.TIMED_WAITING) {
                return true;
            }
        }
        return false;
    }

    private String lockIds() {
        return other.jdbc()
                .queryForObject("SELECT coalesce(string_agg(lock_id, ' '), '') FROM syncguard_locks", String.class);
    }

    /** Runs the work in a thread that records its interrupt flag at the end. */
    private <T> Interruptible<T> interruptible(Callable<T> work) {
        FutureTask<T> result = new FutureTask<>(() -> {
            try {
                return work.call();
            } finally {
                flag.set(Thread.currentThread().isInterrupted());
            }
        });
        Thread thread = new Thread(result, "interruptible");
        thread.setDaemon(true);
        thread.start();
        return new Interruptible<>(thread, result, flag);
    }

    private record Interruptible<T>(Thread thread, FutureTask<T> result, AtomicBoolean flag) {

        void assertAborted() {
            eventually().until(result::isDone);
            assertThatThrownBy(result::get)
                    .cause()
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
            assertThat(flag).isTrue();
        }
    }
}
