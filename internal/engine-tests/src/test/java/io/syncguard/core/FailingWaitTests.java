package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockUnavailableException;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.UsualBuild;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A caller waits after a refusal, and the server fails or becomes slow: its own deadline ends the wait, unless no retry
 * mends the error, and nothing spins.
 */
class FailingWaitTests {

    /** Without a heartbeat the waiter is not handed the key: it is woken and sends a request. */
    private static final LockRequest REQUEST =
            LockRequest.of("order:42").waitTime(Duration.ofSeconds(5)).noHeartbeat();

    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    static Stream<Arguments> passing() {
        return UsualBuild.first(
                        1,
                        Stream.of(
                                LockErrorCode.SERVICE_UNAVAILABLE,
                                LockErrorCode.NETWORK_TIMEOUT,
                                LockErrorCode.RATE_LIMITED))
                .flatMap(code -> Stream.of(Arguments.of(code, true), Arguments.of(code, false)));
    }

    /** An error that passes, of a request or of a renewal, and the pauses between the requests meanwhile. */
    @ParameterizedTest
    @MethodSource("passing")
    void a_server_that_fails_for_a_while_ends_no_wait(LockErrorCode code, boolean released) throws Exception {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(LONG));
        fail(code);
        if (released) {
            fixture.releaseElsewhere(other);
        }
        fixture.advanceSlowly(Duration.ofSeconds(4), Duration.ofMillis(20));
        assertThat(waiter).isNotDone();
        assertThat(fixture.backend.acquires.get() + fixture.backend.renewalStatements.get())
                .as("attempts of four seconds, with pauses of at most half a second")
                .isBetween(4, 25);

        fixture.backend.beforeAcquire = () -> {};
        fixture.backend.beforeRenewal = () -> {};
        if (!released) {
            fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofMillis(100));
            assertThat(fixture.store.queue("order:42")).as("its place").hasSize(1);
            fixture.releaseElsewhere(other);
        }
        advanceUntilDone(waiter);

        assertThat(got(waiter).isHeld()).isTrue();
        assertThat(fixture.events).containsExactly("waitStarted", "waitEnded", "acquired");
    }

    /** Spring Integration sent 460 requests without a pause, and continued long after the wait time. */
    @ParameterizedTest
    @MethodSource("passing")
    void a_server_that_still_fails_at_the_deadline_ends_the_wait_there(LockErrorCode code, boolean released) {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        long began = fixture.time.nanoTime();
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);
        fail(code);
        if (released) {
            fixture.releaseElsewhere(other);
        }

        while (!waiter.isDone()) {
            fixture.advanceSlowly(Duration.ofMillis(20), Duration.ofMillis(20));
        }

        assertThat(Duration.ofNanos(fixture.time.nanoTime() - began))
                .isBetween(Duration.ofSeconds(5), Duration.ofMillis(5_200));
        assertThatEndedWith(code, waiter);
        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockUnavailableException.class);
        int attempts = fixture.backend.acquires.get() + fixture.backend.renewalStatements.get();
        fixture.advanceSlowly(Duration.ofSeconds(10), Duration.ofMillis(500));
        assertThat(fixture.backend.acquires.get() + fixture.backend.renewalStatements.get())
                .isEqualTo(attempts)
                .isLessThan(35);
        assertThat(fixture.store.queue("order:42")).isEmpty();
        fixture.backend.beforeAcquire = () -> {};
        assertThat(locks.isLocked("order:42")).isEqualTo(!released);
    }

    /** What no retry mends, at the request after a wake-up, and at a renewal. */
    @ParameterizedTest
    @CsvSource({
        "AUTH_FAILED, true", "SCHEMA_MISSING, true", "INVALID_ARGUMENT, true", "INTERNAL, true",
        "AUTH_FAILED, false", "SCHEMA_MISSING, false", "INVALID_ARGUMENT, false", "INTERNAL, false",
    })
    void an_error_that_no_retry_mends_ends_the_wait_and_gives_up_the_queue_entry(LockErrorCode code, boolean released) {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(LONG));
        fail(code);
        if (released) {
            fixture.releaseElsewhere(other);
        }

        advanceUntilDone(waiter);

        assertThatEndedWith(code, waiter);
        assertThatThrownBy(waiter::get).cause().hasMessageContaining(released ? "test" : "order:42");
        eventually().until(() -> fixture.store.queue("order:42").isEmpty());
        assertThat(fixture.backend.acquires).hasValue(released ? 2 : 1);
    }

    /** An earlier request of the same wait may be executed after the lock was released. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_a_request_in_doubt_is_granted_after_the_end_of_the_lock_is_released(boolean isLost) throws Exception {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(LONG));
        AtomicReference<AcquireRequest> late = new AtomicReference<>();
        fixture.backend.onAcquire = late::set;
        fixture.backend.beforeAcquire = () -> {
            fixture.backend.beforeAcquire = () -> {};
            fixture.backend.onAcquire = request -> {};
            throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
        };
        fixture.releaseElsewhere(other);
        advanceUntilDone(waiter);
        LockHandle lock = got(waiter);
        fixture.deliver(late.get());
        assertThat(lock.isHeld()).isTrue();
        if (isLost) {
            fixture.store.expire("order:42");
            assertThat(lock.extend(EngineFixture.TTL)).isFalse();
        }
        lock.release();
        fixture.settle();

        fixture.deliver(late.get());

        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(20));
            return !locks.isLocked("order:42");
        });
        assertThat(fixture.store.queue("order:42")).isEmpty();
        assertThat(fixture.time.nanoTime()).isLessThan(EngineFixture.TTL.toNanos());
    }

    /** In another library the end of one session was an error for all waiters. */
    @Test
    void one_failed_look_is_repeated_and_ends_no_wait() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(LONG));
        fixture.backend.beforeRenewal = () -> {
            fixture.backend.beforeRenewal = () -> {};
            throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
        };
        fixture.advanceSlowly(Duration.ofSeconds(6), Duration.ofMillis(500));
        assertThat(fixture.store.queue("order:42")).as("the queue").hasSize(1);

        fixture.releaseElsewhere(other);

        assertThat(got(waiter).isHeld()).isTrue();
    }

    @Test
    void an_error_at_the_last_attempt_is_thrown_and_not_taken_for_a_refusal() {
        fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);
        long began = fixture.time.nanoTime();
        fixture.backend.beforeAcquire = () -> {
            if (fixture.time.nanoTime() - began >= Duration.ofSeconds(4).toNanos()) {
                throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
            }
        };

        advanceUntilDone(waiter);

        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockBackendException.class);
    }

    @Test
    void a_grant_whose_answer_is_lost_in_the_middle_of_a_wait_is_found_by_the_next_attempt() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(LONG));
        fixture.backend.afterAcquire = () -> {
            fixture.backend.afterAcquire = () -> {};
            throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
        };
        fixture.releaseElsewhere(other);

        advanceUntilDone(waiter);

        assertThat(got(waiter).fence().value())
                .as("the fence of the first grant")
                .isEqualTo(2);
        assertThat(fixture.store.fence("order:42")).isEqualTo(2);
    }

    @Test
    void a_server_that_takes_long_for_each_refusal_is_not_asked_beyond_the_deadline() {
        fixture.holdElsewhere("order:42", LONG);
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(2));
        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST));

        advanceUntilDone(waiter);

        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockNotAcquiredException.class);
        assertThat(fixture.backend.acquires)
                .as("the answer to the third came at six seconds, if not that to the second")
                .hasValueLessThanOrEqualTo(3);
    }

    /** Each request of a waiter and each renewal fails from now on. */
    private void fail(LockErrorCode code) {
        fixture.backend.beforeAcquire = InterceptedBackend.failing(code);
        fixture.backend.beforeRenewal = InterceptedBackend.failing(code);
    }

    private void assertThatEndedWith(LockErrorCode code, FutureTask<LockHandle> waiter) {
        eventually().until(waiter::isDone);
        assertThatThrownBy(waiter::get)
                .cause()
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code));
        assertThat(fixture.events).containsExactly("waitStarted", "waitEnded", "failed ACQUIRE " + code);
    }

    /** Moves the clock by twice the wait time. At each step a waiter whose pause is over sends a request. */
    private void advanceUntilDone(FutureTask<LockHandle> waiter) {
        for (int steps = 0; steps < 50 && !waiter.isDone(); steps++) {
            fixture.advanceSlowly(Duration.ofMillis(200), Duration.ofMillis(200));
        }
        eventually().until(waiter::isDone);
    }
}
