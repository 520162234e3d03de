package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Keys that travel together: acquired up to the first that is not free, and released in one request. */
class KeysTogetherTests {

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @BeforeEach
    void travelTogether() {
        fixture.backend.keysTogether = 10;
    }

    @Test
    void free_keys_are_acquired_and_released_in_one_request_each() {
        List<LockHandle> handles = locks.acquireTogether(requests("a", "b", "c"));

        assertThat(handles).extracting(LockHandle::key).containsExactly("a", "b", "c");
        assertThat(handles).allMatch(LockHandle::isHeld);
        assertThat(fixture.backend.acquiresTogether).hasValue(1);
        assertThat(fixture.backend.acquires).hasValue(0);

        locks.closeAll(handles);

        assertThat(handles).extracting(LockHandle::state).containsOnly(LockHandle.State.RELEASED);
        assertThat(fixture.backend.releasesTogether).hasValue(1);
        assertThat(fixture.backend.releases).hasValue(0);
        assertThat(locked("a", "b", "c")).isEmpty();
        assertThat(fixture.events)
                .containsExactly("acquired", "acquired", "acquired", "released", "released", "released");
    }

    @Test
    void no_more_travel_together_than_the_store_takes() {
        fixture.backend.keysTogether = 2;

        List<LockHandle> handles = locks.acquireTogether(requests("a", "b", "c"));

        assertThat(handles).extracting(LockHandle::key).containsExactly("a", "b");
    }

    @Test
    void a_store_that_takes_one_at_a_time_is_asked_for_the_first() {
        fixture.backend.keysTogether = 1;

        List<LockHandle> handles = locks.acquireTogether(requests("a", "b"));

        assertThat(handles).extracting(LockHandle::key).containsExactly("a");
        assertThat(fixture.backend.acquiresTogether).hasValue(0);
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void a_key_behind_one_that_is_taken_is_given_back_in_one_request_without_an_event() {
        fixture.holdElsewhere("b", EngineFixture.TTL);

        List<LockHandle> handles = locks.acquireTogether(requests("a", "b", "c", "d"));

        assertThat(handles).extracting(LockHandle::key).containsExactly("a");
        eventually().until(() -> locked("c", "d").isEmpty());
        assertThat(fixture.backend.releaseAllStatements).hasValue(1);
        assertThat(fixture.events).containsExactly("acquired");
    }

    @Test
    void nothing_is_held_while_the_first_key_is_waited_for() throws Exception {
        AcquireRequest holder = fixture.holdElsewhere("a", EngineFixture.TTL);
        FutureTask<List<LockHandle>> waiting = inAnotherThread(() -> locks.acquireTogether(requests("a", "b", "c")));
        eventually().until(() -> fixture.store.queue("a").size() == 1);

        eventually().until(() -> locked("b", "c").isEmpty());
        fixture.releaseElsewhere(holder);

        assertThat(got(waiting)).extracting(LockHandle::key).containsExactly("a");
    }

    @Test
    void without_wait_time_there_is_one_attempt_and_nothing_is_held_after_a_refusal() {
        fixture.holdElsewhere("a", EngineFixture.TTL);

        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> locks.acquireTogether(
                        List.of(LockRequest.of("a").waitTime(Duration.ZERO), LockRequest.of("b"))))
                .withMessageContaining("elsewhere")
                .satisfies(ex -> assertThat(ex.key()).isEqualTo("a"));

        assertThat(fixture.backend.acquiresTogether).hasValue(1);
        assertThat(fixture.backend.acquires).hasValue(0);
        eventually().until(() -> locked("b").isEmpty());
        assertThat(fixture.events).containsExactly("refused");
    }

    @Test
    void an_answer_that_is_lost_leaves_nothing_behind() {
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquireTogether(requests("a", "b", "c")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));

        eventually().until(() -> locked("a", "b", "c").isEmpty());
        assertThat(fixture.events).containsExactly("failed ACQUIRE NETWORK_TIMEOUT");
    }

    @Test
    void code_that_fails_after_the_grants_leaves_nothing_behind() {
        fixture.backend.afterAcquire = () -> {
            throw new IllegalStateException("broken");
        };

        assertThatThrownBy(() -> locks.acquireTogether(requests("a", "b"))).isInstanceOf(IllegalStateException.class);

        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void an_answer_after_the_ttl_leaves_nothing_behind() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(EngineFixture.TTL);

        assertThatThrownBy(() -> locks.acquireTogether(requests("a", "b"))).isInstanceOf(LockLostException.class);

        fixture.backend.afterAcquire = () -> {};
        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void the_deadline_of_each_lease_counts_from_before_the_request() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(5));

        assertThat(locks.acquireTogether(requests("a", "b")))
                .extracting(LockHandle::remaining)
                .containsOnly(EngineFixture.TTL.minusSeconds(5));
    }

    @Test
    void an_engine_that_stops_meanwhile_leaves_nothing_behind() {
        fixture.backend.afterAcquire = locks::stop;
        fixture.holdElsewhere("c", EngineFixture.TTL);

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquireTogether(requests("a", "b", "c", "d")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(locked("a", "b", "d")).isEmpty();
    }

    /** The other grants have no handles yet. */
    @Test
    void a_listener_that_closes_the_locks_at_the_first_one_leaves_nothing_behind() {
        AtomicReference<LockEngine> closing = new AtomicReference<>();
        EngineFixture process = new EngineFixture(new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                closing.get().close();
            }
        });
        closing.set(process.engine);
        process.backend.keysTogether = 10;
        process.backend.beforeRelease = () -> {
            if (process.backend.closed) {
                throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
            }
        };
        FutureTask<List<LockHandle>> caller =
                inAnotherThread(() -> process.engine.acquireTogether(requests("a", "b", "c")));

        process.advanceUntil(caller::isDone);

        assertThat(Stream.of("a", "b", "c").filter(process.backend::isLocked)).isEmpty();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(caller::get)
                .withStackTraceContaining("shutting down");
    }

    /** A slow server would hold the caller up beyond its wait time. */
    @Test
    void a_caller_that_fails_while_the_engine_stops_leaves_its_releases_to_the_engine() throws Exception {
        locks.stop();
        locks.start();
        List<Thread> releasing = new CopyOnWriteArrayList<>();
        List<FutureTask<?>> stop = new CopyOnWriteArrayList<>();
        fixture.backend.onReleases = lockIds -> releasing.add(Thread.currentThread());
        fixture.backend.afterAcquire = () -> {
            stop.add(inAnotherThread(() -> {
                locks.stop();
                return null;
            }));
            eventually().until(() -> !locks.grantsLocks());
            throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
        };

        assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.acquireTogether(requests("a", "b")));
        got(stop.get(0));

        assertThat(releasing).isNotEmpty().doesNotContain(Thread.currentThread());
        assertThat(locked("a", "b")).isEmpty();
    }

    @Test
    void an_interrupted_thread_acquires_nothing() {
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquireTogether(requests("a", "b")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(fixture.backend.acquiresTogether).hasValue(0);
    }

    @Test
    void an_interrupt_that_breaks_the_answer_leaves_nothing_behind() {
        fixture.backend.afterAcquire = () -> {
            Thread.currentThread().interrupt();
            throw InterceptedBackend.failure(LockErrorCode.ABORTED);
        };

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquireTogether(requests("a", "b")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(Thread.interrupted()).isTrue();
        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void a_key_that_is_held_already_is_joined_and_does_not_travel() throws Exception {
        LockHandle outer = locks.acquire(LockRequest.of("b"));

        outer.bind(() -> {
                    assertThat(locks.acquireTogether(requests("a", "b", "c")))
                            .extracting(LockHandle::key)
                            .containsExactly("a");
                    List<LockHandle> joined = locks.acquireTogether(requests("b", "c"));
                    assertThat(joined).extracting(LockHandle::lockId).containsExactly(outer.lockId());
                    return null;
                })
                .call();
    }

    @Test
    void shared_requests_and_a_key_that_comes_twice_go_alone() {
        List<LockRequest> requests = List.of(
                LockRequest.of("a"), LockRequest.of("b"), LockRequest.of("c").shared());
        assertThat(locks.acquireTogether(requests)).hasSize(2);
        assertThat(locks.acquireTogether(requests.subList(2, 3))).hasSize(1);
        assertThat(locks.acquireTogether(requests("d", "e", "d"))).hasSize(2);
    }

    @Test
    void the_loss_of_one_is_reported_when_all_the_others_have_been_released() {
        List<LockHandle> handles = locks.acquireTogether(requests("a", "b", "c", "d"));
        Stream.of("b", "c").forEach(locks.admin()::forceRelease);
        handles.get(1).extend(EngineFixture.TTL);

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> locks.closeAll(handles))
                .satisfies(ex -> {
                    assertThat(ex.key()).isEqualTo("c");
                    assertThat(ex.getSuppressed())
                            .extracting(lost -> ((LockLostException) lost).key())
                            .containsExactly("b");
                });

        assertThat(locked("a", "b", "c", "d")).isEmpty();
        assertThat(fixture.backend.releasesTogether).hasValue(1);
    }

    @Test
    void releases_that_fail_are_sent_again_in_the_background() {
        List<LockHandle> handles = locks.acquireTogether(requests("a", "b"));
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        locks.closeAll(handles);
        fixture.backend.beforeRelease = () -> {};

        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));
        assertThat(locked("a", "b")).isEmpty();
        assertThat(fixture.events)
                .filteredOn(event -> event.startsWith("failed"))
                .containsExactly("failed RELEASE SERVICE_UNAVAILABLE", "failed RELEASE SERVICE_UNAVAILABLE");
    }

    @Test
    void releases_that_an_interrupt_breaks_are_sent_again_and_are_no_loss() {
        List<LockHandle> handles = locks.acquireTogether(requests("a", "b"));
        fixture.backend.afterRelease = () -> {
            fixture.backend.afterRelease = () -> {};
            Thread.currentThread().interrupt();
            throw InterceptedBackend.failure(LockErrorCode.ABORTED);
        };

        locks.closeAll(handles);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(handles).extracting(LockHandle::state).containsOnly(LockHandle.State.RELEASED);
        assertThat(locked("a", "b")).isEmpty();
    }

    @Test
    void a_lock_that_is_kept_for_its_least_time_is_released_alone() {
        List<LockHandle> handles = new ArrayList<>(locks.acquireTogether(requests("a", "b")));
        handles.add(locks.acquire(LockRequest.of("c").holdAtLeast(Duration.ofSeconds(10))));

        locks.closeAll(handles);

        assertThat(locked("a", "b", "c")).containsExactly("c");
    }

    private static List<LockRequest> requests(String... keys) {
        return Stream.of(keys).map(LockRequest::of).toList();
    }

    private List<String> locked(String... keys) {
        return Stream.of(keys).filter(locks::isLocked).toList();
    }
}
