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
import io.syncguard.LockHandles;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockOperations;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several keys of one call: all are acquired, or none, and released in one request. */
class SeveralLocksTests {

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void free_keys_are_acquired_and_released_in_one_request_each() {
        LockHandles handles = locks.acquire(requests("c", "a", "b"));

        assertThat(handles.all()).extracting(LockHandle::key).containsExactly("c", "a", "b");
        assertThat(handles.areHeld()).isTrue();
        assertThat(fixture.backend.acquiresTogether).hasValue(1);
        assertThat(fixture.backend.acquires).hasValue(0);

        handles.close();

        assertThat(handles.all()).extracting(LockHandle::state).containsOnly(LockHandle.State.RELEASED);
        assertThat(fixture.backend.releasesTogether).hasValue(1);
        assertThat(fixture.backend.releases).hasValue(0);
        assertThat(locked("a", "b", "c")).isEmpty();
        assertThat(fixture.events)
                .containsExactly("acquired", "acquired", "acquired", "released", "released", "released");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b", "d"})
    void a_call_that_does_not_wait_takes_nothing_if_one_key_is_taken(String taken) {
        fixture.holdElsewhere(taken, EngineFixture.TTL);
        List<LockRequest> requests = requests("d", "c", "b", "a");

        assertThat(locks.tryAcquire(requests)).isNull();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> locks.acquire(requests.stream()
                        .map(each -> each.waitTime(Duration.ZERO))
                        .toList()))
                .withMessageContaining("elsewhere")
                .satisfies(ex -> assertThat(ex.key()).isEqualTo(taken));

        assertThat(locked("a", "b", "c", "d")).containsExactly(taken);
        assertThat(fixture.backend.acquiresTogether).hasValue(2);
        assertThat(fixture.backend.acquires).hasValue(0);
        assertThat(fixture.events).containsExactly("refused", "refused");
    }

    @Test
    void the_shortest_wait_time_counts_for_all() {
        fixture.holdElsewhere("a", EngineFixture.TTL);

        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> locks.acquire(List.of(
                        LockRequest.of("a").waitTime(Duration.ofHours(1)),
                        LockRequest.of("b").waitTime(Duration.ZERO))));
    }

    @Test
    void a_call_that_waits_holds_what_is_in_front_and_then_goes_on() throws Exception {
        AcquireRequest b = fixture.holdElsewhere("b", EngineFixture.TTL);
        AcquireRequest d = fixture.holdElsewhere("d", EngineFixture.TTL);
        FutureTask<LockHandles> waiting = inAnotherThread(() -> locks.acquire(requests("e", "d", "c", "b", "a")));
        eventually().until(() -> fixture.store.queue("b").size() == 1);
        assertThat(locked("a", "c", "e")).containsExactly("a");

        fixture.releaseElsewhere(b);
        eventually().until(() -> fixture.store.queue("d").size() == 1);
        assertThat(locked("a", "b", "c", "e")).containsExactly("a", "b", "c");
        fixture.releaseElsewhere(d);

        assertThat(got(waiting).areHeld()).isTrue();
    }

    @Test
    void what_is_in_front_is_extended_during_the_wait_and_given_back_before_a_refusal_returns() throws Exception {
        fixture.holdElsewhere("b", Duration.ofHours(1));
        List<LockRequest> requests = requests("a", "b").stream()
                .map(each -> each.waitTime(EngineFixture.TTL.multipliedBy(3)).holdAtLeast(Duration.ofMinutes(10)))
                .toList();
        FutureTask<List<String>> waiting = inAnotherThread(() -> {
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> locks.acquire(requests));
            return locked("a");
        });
        eventually().until(() -> fixture.store.queue("b").size() == 1);

        fixture.advanceSlowly(EngineFixture.TTL.multipliedBy(2), Duration.ofSeconds(1));
        assertThat(locked("a")).containsExactly("a");
        fixture.advanceUntil(waiting::isDone);

        assertThat(waiting.get()).isEmpty();
    }

    /** The caller's own heartbeat locks the row for the time of a commit. */
    @Test
    void what_a_heartbeat_locks_is_given_back_before_a_refusal_returns() throws Exception {
        fixture.holdElsewhere("b", Duration.ofHours(1));
        AtomicInteger tries = new AtomicInteger();
        fixture.backend.beforeRelease = () -> fixture.backend.rowsArePinned = tries.incrementAndGet() < 2;
        FutureTask<List<String>> waiting = inAnotherThread(() -> {
            List<LockRequest> requests = requests("a", "b").stream()
                    .map(each -> each.waitTime(Duration.ofSeconds(1)).holdAtLeast(Duration.ofMinutes(10)))
                    .toList();
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> locks.acquire(requests));
            return locked("a");
        });

        eventually().until(() -> fixture.store.queue("b").size() == 1);
        fixture.time.advance(Duration.ofSeconds(1));
        eventually().until(() -> {
            // The pauses of the repeated release.
            fixture.time.advance(Duration.ofMillis(1));
            return waiting.isDone();
        });

        assertThat(waiting.get()).isEmpty();
        assertThat(tries).hasValue(2);
    }

    @Test
    void what_lapsed_during_the_wait_is_given_back_whatever_its_least_time() throws Exception {
        fixture.holdElsewhere("b", Duration.ofHours(1));
        List<LockRequest> requests = requests("a", "b").stream()
                .map(each -> each.noHeartbeat().waitTime(Duration.ofMinutes(5)).holdAtLeast(Duration.ofHours(1)))
                .toList();
        FutureTask<List<String>> waiting = inAnotherThread(() -> {
            assertThatThrownBy(() -> locks.acquire(requests)).isInstanceOf(LockException.class);
            return locked("a");
        });
        eventually().until(() -> fixture.store.queue("b").size() == 1);

        fixture.advanceUntil(waiting::isDone);

        assertThat(waiting.get()).isEmpty();
        assertThat(fixture.backend.lookup("a")).isEmpty();
    }

    @Test
    void a_lock_that_is_lost_during_the_wait_fails_the_call() throws Exception {
        AcquireRequest holder = fixture.holdElsewhere("b", EngineFixture.TTL);
        FutureTask<LockHandles> waiting = inAnotherThread(() -> locks.acquire(requests("a", "b")));
        eventually().until(() -> fixture.store.queue("b").size() == 1);
        locks.admin().forceRelease("a");
        fixture.releaseElsewhere(holder);

        fixture.advanceUntil(waiting::isDone);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(waiting::get)
                .withCauseInstanceOf(LockLostException.class)
                .withMessageContaining("'a' was lost while the call waited");
        assertThat(locked("a", "b")).isEmpty();
    }

    @Test
    void a_template_runs_a_body_under_all_locks_or_not_at_all() {
        LockTemplate template = new LockTemplate(locks);

        String result = template.execute(requests("b", "a"), held -> {
            assertThat(held.all()).extracting(LockHandle::key).containsExactly("b", "a");
            assertThat(LockHandle.current("a")).isPresent();
            assertThat(LockHandle.current("b")).isPresent();
            // A nested call joins.
            return template.execute(requests("a", "b"), inner -> held.areHeld() ? "both" : "lost");
        });

        assertThat(result).isEqualTo("both");
        assertThat(locked("a", "b")).isEmpty();
        fixture.holdElsewhere("b", EngineFixture.TTL);
        assertThat(template.tryExecute(requests("a", "b"), held -> "ran").acquired())
                .isFalse();
        assertThat(template.tryExecuteWithoutResult(requests("a", "c"), held -> {}))
                .isTrue();
        assertThat(locked("a", "c")).isEmpty();
    }

    @Test
    void a_body_that_fails_under_several_locks_releases_them_and_its_exception_is_thrown() {
        LockTemplate template = new LockTemplate(locks);
        IOException failure = new IOException("refused card");

        assertThatThrownBy(() -> template.executeWithoutResult(requests("a", "b"), held -> {
                    locks.admin().forceRelease("a");
                    held.all().get(0).extend(EngineFixture.TTL);
                    throw failure;
                }))
                .isSameAs(failure)
                .satisfies(ex -> assertThat(ex.getSuppressed()).hasOnlyElementsOfType(LockLostException.class));
        assertThat(locked("a", "b")).isEmpty();
    }

    @Test
    void without_locks_a_body_runs_at_once() {
        assertThat(LockOperations.withoutLocks()
                        .<List<LockHandle>, RuntimeException>execute(requests("a", "b"), LockHandles::all))
                .hasSize(2);
    }

    @Test
    void a_call_without_a_key_or_with_too_many_is_refused() {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(List.of()))
                .withMessage("The number of requests is 0, but has to be between 1 and 1000")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
        List<LockRequest> many =
                IntStream.range(0, 1001).mapToObj(i -> LockRequest.of("k" + i)).toList();
        assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.tryAcquire(many));
        assertThat(fixture.backend.acquiresTogether).hasValue(0);
    }

    @Test
    void several_requests_for_one_key_have_one_handle_of_the_strictest() {
        LockHandles handles = locks.acquire(
                List.of(LockRequest.of("a").shared(), LockRequest.of("b"), LockRequest.of("a"), LockRequest.of("b")));

        assertThat(handles.all()).extracting(LockHandle::key).containsExactly("a", "b", "a", "b");
        assertThat(handles.all()).extracting(LockHandle::mode).containsOnly(LockMode.EXCLUSIVE);
        assertThat(handles.all().get(0)).isSameAs(handles.all().get(2));
        handles.close();
        assertThat(locked("a", "b")).isEmpty();
        assertThat(fixture.events).containsExactly("acquired", "acquired", "released", "released");
    }

    /** The even keys are on one server, the odd ones on another. */
    @Test
    void several_servers_are_looked_at_before_one_grants() {
        fixture.backend.servers = key -> key.charAt(1) % 2;
        fixture.holdElsewhere("k3", EngineFixture.TTL);
        List<LockRequest> requests = requests("k1", "k2", "k3", "k4");
        List<String> asked = new CopyOnWriteArrayList<>();
        fixture.backend.onAcquire = request -> asked.add(request.key());

        assertThat(locks.tryAcquire(requests)).isNull();

        assertThat(asked).containsExactly("k2", "k4", "k1", "k3");
        assertThat(locked("k1", "k2", "k4")).isEmpty();
        assertThat(fixture.events).containsExactly("refused");
    }

    @Test
    void what_one_server_granted_until_the_next_refused_is_given_back_before_the_call_returns() {
        fixture.backend.servers = key -> key.charAt(1) % 2;
        AtomicInteger steps = new AtomicInteger();
        fixture.backend.beforeAcquire = () -> {
            // The looks at both servers found all keys free.
            if (steps.incrementAndGet() == 3) {
                fixture.holdElsewhere("k3", EngineFixture.TTL);
            }
        };

        assertThat(locks.tryAcquire(requests("k1", "k2", "k3", "k4"))).isNull();

        assertThat(steps).hasValue(4);
        assertThat(locked("k1", "k2", "k4")).isEmpty();
        assertThat(locks.acquire(requests("k1", "k2", "k4")).areHeld()).isTrue();
    }

    @Test
    void a_store_that_leaves_a_key_out_fails_the_call_and_nothing_is_left_behind() {
        fixture.backend.jointAnswers = results -> List.of(results.get(0), AcquireResult.Undecided.UNDECIDED);

        assertThatThrownBy(() -> locks.acquire(requests("a", "b")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("1 grants, but 2 of 2 keys can be granted");

        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void an_answer_that_is_lost_leaves_nothing_behind() {
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(requests("a", "b", "c")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));

        eventually().until(() -> locked("a", "b", "c").isEmpty());
        assertThat(fixture.events).containsExactly("failed ACQUIRE NETWORK_TIMEOUT");
    }

    @Test
    void code_that_fails_after_the_grants_leaves_nothing_behind() {
        fixture.backend.afterAcquire = () -> {
            throw new IllegalStateException("broken");
        };

        assertThatThrownBy(() -> locks.acquire(requests("a", "b"))).isInstanceOf(IllegalStateException.class);

        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void an_answer_after_the_ttl_leaves_nothing_behind() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(EngineFixture.TTL);

        assertThatThrownBy(() -> locks.acquire(requests("a", "b"))).isInstanceOf(LockLostException.class);

        fixture.backend.afterAcquire = () -> {};
        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void the_deadline_of_each_lease_counts_from_before_the_request() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(5));

        assertThat(locks.acquire(requests("a", "b")).all())
                .extracting(LockHandle::remaining)
                .containsOnly(EngineFixture.TTL.minusSeconds(5));
    }

    @Test
    void an_engine_that_stops_meanwhile_leaves_nothing_behind() {
        fixture.backend.afterAcquire = locks::stop;
        fixture.holdElsewhere("c", EngineFixture.TTL);

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(requests("a", "b", "c", "d")))
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
        process.backend.beforeRelease = () -> {
            if (process.backend.closed) {
                throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
            }
        };
        FutureTask<LockHandles> caller = inAnotherThread(() -> process.engine.acquire(requests("a", "b", "c")));

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

        assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.acquire(requests("a", "b")));
        got(stop.get(0));

        assertThat(releasing).isNotEmpty().doesNotContain(Thread.currentThread());
        assertThat(locked("a", "b")).isEmpty();
    }

    @Test
    void an_interrupted_thread_acquires_nothing() {
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(requests("a", "b")))
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
                .isThrownBy(() -> locks.acquire(requests("a", "b")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(Thread.interrupted()).isTrue();
        eventually().until(() -> locked("a", "b").isEmpty());
    }

    @Test
    void a_key_that_is_held_already_is_joined() throws Exception {
        LockHandle outer = locks.acquire(LockRequest.of("b"));

        outer.bind(() -> {
                    LockHandles handles = locks.acquire(requests("a", "b", "c"));
                    assertThat(handles.all().get(1).lockId()).isEqualTo(outer.lockId());
                    handles.close();
                    assertThat(outer.isHeld()).isTrue();
                    assertThat(locked("a", "c")).isEmpty();
                    fixture.holdElsewhere("c", EngineFixture.TTL);
                    assertThat(locks.tryAcquire(requests("a", "b", "c"))).isNull();
                    assertThat(outer.isHeld()).isTrue();
                    return null;
                })
                .call();
    }

    @Test
    void the_loss_of_one_is_reported_when_all_the_others_have_been_released() {
        LockHandles handles = locks.acquire(requests("a", "b", "c", "d"));
        Stream.of("b", "c").forEach(locks.admin()::forceRelease);
        handles.all().get(1).extend(EngineFixture.TTL);

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(handles::close)
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
        LockHandles handles = locks.acquire(requests("a", "b"));
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        handles.close();
        fixture.backend.beforeRelease = () -> {};

        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));
        assertThat(locked("a", "b")).isEmpty();
        assertThat(fixture.events)
                .filteredOn(event -> event.startsWith("failed"))
                .containsExactly("failed RELEASE SERVICE_UNAVAILABLE", "failed RELEASE SERVICE_UNAVAILABLE");
    }

    @Test
    void releases_that_an_interrupt_breaks_are_sent_again_and_are_no_loss() {
        LockHandles handles = locks.acquire(requests("a", "b"));
        fixture.backend.afterRelease = () -> {
            fixture.backend.afterRelease = () -> {};
            Thread.currentThread().interrupt();
            throw InterceptedBackend.failure(LockErrorCode.ABORTED);
        };

        handles.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(handles.all()).extracting(LockHandle::state).containsOnly(LockHandle.State.RELEASED);
        assertThat(locked("a", "b")).isEmpty();
    }

    @Test
    void a_lock_that_is_kept_for_its_least_time_is_released_alone() {
        LockHandles handles = locks.acquire(List.of(
                LockRequest.of("a"), LockRequest.of("b"), LockRequest.of("c").holdAtLeast(Duration.ofSeconds(10))));

        handles.close();

        assertThat(locked("a", "b", "c")).containsExactly("c");
    }

    private static List<LockRequest> requests(String... keys) {
        return Stream.of(keys).map(LockRequest::of).toList();
    }

    private List<String> locked(String... keys) {
        return Stream.of(keys).filter(locks::isLocked).toList();
    }
}
