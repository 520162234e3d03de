package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections are cut just after or just before the server executes a request: the effect on the lock. */
class PostgresInDoubtTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private static String url;

    private PostgresProxy proxy;
    private EngineFixture fixture;
    private LockEngine locks;
    private OtherSession other;

    @BeforeAll
    static void makeDatabase() {
        url = PostgresServer.newDatabaseUrl();
    }

    @BeforeEach
    void open() {
        proxy = new PostgresProxy(url);
        // One connection in each pool, opened now: a new one asks the server for its settings, and that answer would be
        // lost.
        StoreCalls server = PooledPostgres.on(proxy.url(), 1, Duration.ofMinutes(1));
        server.isLocked("warm up");
        server.extend(List.of(Requests.extension("warm up", EngineFixture.TTL)));
        fixture = new EngineFixture(server);
        locks = fixture.engine;
        other = new OtherSession(url);
        other.jdbc().execute("TRUNCATE syncguard_locks, syncguard_locks_waiters, syncguard_fence_counters");
    }

    @AfterEach
    void close() {
        other.close();
        fixture.close();
        proxy.close();
    }

    @Test
    void a_grant_whose_answer_was_cut_off_is_released_and_its_fence_drawn_once() {
        proxy.loseNextAnswer();

        assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(LockBackendException.class);

        assertThat(proxy.hasLostAnswer()).isTrue();
        assertThat(fixture.backend.acquires).hasValue(1);
        awaitNoRow();
        assertThat(storedFence()).isEqualTo(1);
    }

    @Test
    void keys_that_were_granted_together_by_an_answer_that_was_cut_off_are_all_released() {
        proxy.loseNextAnswer();

        assertThatThrownBy(() -> locks.acquire(List.of(REQUEST, LockRequest.of("order:43"))))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("order:42");

        assertThat(proxy.hasLostAnswer()).isTrue();
        assertThat(fixture.backend.acquiresTogether).hasValue(1);
        assertThat(fixture.backend.acquires).hasValue(0);
        awaitNoRow();
        assertThat(locks.tryAcquire(LockRequest.of("order:43"))).isNotNull();
    }

    /** Curator once took the lock of the previous session for that of the new one. */
    @Test
    void the_release_of_a_grant_whose_answer_was_cut_off_leaves_the_next_grant_alone() {
        proxy.loseNextAnswer();
        assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(LockBackendException.class);
        awaitNoRow();

        LockHandle next = locks.acquire(REQUEST.ttl(Duration.ofHours(1)));
        fixture.advanceSlowly(Duration.ofSeconds(30), Duration.ofSeconds(1));

        assertThat(next.fence().value()).isEqualTo(2);
        assertThat(locks.owns(next.lockId())).isTrue();
        assertThat(next.release()).isTrue();
    }

    @Test
    void a_grant_that_the_server_makes_for_a_client_that_is_gone_is_released() throws Exception {
        locks.acquire(REQUEST).release();
        other.run("SELECT FROM syncguard_fence_counters FOR UPDATE");
        FutureTask<LockHandle> acquire = inAnotherThread(() -> locks.acquire(REQUEST));
        other.awaitWaiter();

        proxy.cut();
        eventually().until(acquire::isDone);
        assertThatThrownBy(acquire::get).hasCauseInstanceOf(LockBackendException.class);
        int soFar = fixture.backend.releases.get();
        eventually().until(() -> advanceUntil(() -> fixture.backend.releases.get() > soFar + 1));
        other.rollback();

        eventually().until(() -> storedFence() == 2);
        eventually().until(() -> advanceUntil(() -> rows() == 0));
    }

    /** etcd repeated a release whose answer was lost, and so freed the next grant. */
    @BugOf("etcd 22082: a lost reply and a retry that frees the next grant")
    @Test
    void a_release_whose_answer_was_cut_off_is_sent_again_and_leaves_the_next_grant_alone() {
        LockHandle lock = locks.acquire(REQUEST);
        AtomicReference<AcquireRequest> next = new AtomicReference<>();
        fixture.backend.beforeRelease = () -> {
            if (fixture.backend.releases.get() == 2) {
                next.set(fixture.holdElsewhere("order:42", EngineFixture.TTL));
            }
        };
        proxy.loseNextAnswer();

        assertThat(lock.release()).isTrue();

        assertThat(proxy.hasLostAnswer()).isTrue();
        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        eventually().until(() -> advanceUntil(() -> next.get() != null));
        fixture.advanceSlowly(Duration.ofSeconds(10), Duration.ofSeconds(1));
        assertThat(locks.owns(next.get().lockId())).isTrue();
        assertThat(storedFence()).isEqualTo(2);
        assertThat(fixture.events).containsOnlyOnce("released").doesNotContain("lost");
    }

    @Test
    void a_heartbeat_whose_answer_was_cut_off_does_not_move_the_deadline_and_is_sent_again() {
        LockHandle lock = locks.acquire(REQUEST);
        proxy.loseNextAnswer();

        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.contains("failed EXTEND SERVICE_UNAVAILABLE"));
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(20));
        fixture.time.advance(Duration.ofMillis(2_500));

        eventually().until(() -> fixture.events.contains("extended"));
        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        assertThat(storedFence()).isEqualTo(1);
    }

    @Test
    void a_waiter_whose_answer_was_cut_off_asks_again_and_gets_the_grant_of_that_answer() throws Exception {
        AcquireRequest holder = fixture.holdElsewhere("order:42", Duration.ofHours(1));
        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST.waitTime(Duration.ofHours(1))));
        eventually().until(() -> queueEntries() == 1 && fixture.backend.isConnected());

        fixture.backend.beforeAcquire = () -> {
            fixture.backend.beforeAcquire = () -> {};
            proxy.loseNextAnswer();
        };
        // This request does not use the proxy, so that the answer to the waiter's request is the next one there.
        other.jdbc().queryForList("SELECT syncguard_locks_release(?)", holder.lockId());
        eventually().until(() -> advanceUntil(waiter::isDone));

        assertThat(proxy.hasLostAnswer()).isTrue();
        assertThat(waiter.get().fence().value()).isEqualTo(2);
        assertThat(storedFence()).isEqualTo(2);
        assertThat(fixture.events)
                .containsSequence("waitStarted", "waitEnded")
                .noneMatch(event -> event.startsWith("failed"));
        assertThat(waiter.get().release()).isTrue();
        assertThat(rows()).isZero();
    }

    @Test
    void a_grant_whose_answer_never_came_is_released_and_its_fence_drawn_once() {
        proxy.swallowAnswerTo("syncguard_locks_acquire");

        assertFails(() -> locks.acquire(REQUEST.ttl(Duration.ofSeconds(1))), LockErrorCode.NETWORK_TIMEOUT);

        awaitNoRow();
        assertThat(storedFence()).isEqualTo(1);
    }

    @Test
    void an_extension_by_hand_whose_answer_was_lost_leaves_the_lock_held_until_the_earlier_deadline() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        fixture.time.advance(Duration.ofSeconds(25));
        proxy.loseAnswerTo("syncguard_locks_extend");

        assertFails(() -> lock.extend(Duration.ofSeconds(10)), LockErrorCode.SERVICE_UNAVAILABLE);

        assertThat(fixture.backend.extendStatements).hasValue(1);
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(5));
        assertThat(lock.release()).isTrue();
        assertThat(rows()).isZero();
    }

    @Test
    void a_fence_whose_answer_was_lost_is_left_out() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        proxy.loseAnswerTo("syncguard_locks_rotate");

        assertFails(lock::rotateFence, LockErrorCode.SERVICE_UNAVAILABLE);

        assertThat(fixture.backend.rotations).hasValue(1);
        assertThat(lock.isHeld()).isTrue();
        assertThat(lock.fence().value()).isEqualTo(1);
        assertThat(lock.rotateFence().value()).isEqualTo(3);
        assertThat(locks.admin().lookup("order:42").orElseThrow().fence()).isEqualTo(lock.fence());
        assertThat(lock.release()).isTrue();
    }

    private static void assertFails(ThrowingCallable operation, LockErrorCode code) {
        assertThatThrownBy(operation)
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code))
                .hasMessageContaining("'order:42'");
    }

    private boolean advanceUntil(BooleanSupplier done) {
        fixture.time.advance(Duration.ofMillis(20));
        return done.getAsBoolean();
    }

    private void awaitNoRow() {
        eventually().until(() -> advanceUntil(() -> rows() == 0));
    }

    private int rows() {
        return other.jdbc().queryForObject("SELECT count(*) FROM syncguard_locks", Integer.class);
    }

    private int queueEntries() {
        return other.jdbc().queryForObject("SELECT count(*) FROM syncguard_locks_waiters", Integer.class);
    }

    private long storedFence() {
        return other.jdbc().queryForObject("SELECT fence FROM syncguard_fence_counters", Long.class);
    }
}
