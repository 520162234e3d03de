package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A caller waits after a refusal, and the server fails or becomes slow: the wait ends in time and never spins. */
class FailingWaitTests {

    /** Without a heartbeat the waiter is not handed the key: it is woken and sends a request. */
    private static final LockRequest REQUEST =
            LockRequest.of("order:42").waitTime(Duration.ofSeconds(5)).noHeartbeat();

    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    /** Spring Integration sent 460 requests without a pause, and continued long after the wait time. */
    @ParameterizedTest
    @EnumSource(
            value = LockErrorCode.class,
            names = {"SERVICE_UNAVAILABLE", "NETWORK_TIMEOUT", "RATE_LIMITED", "INTERNAL"})
    void an_error_after_a_refusal_ends_the_wait_with_that_error_and_gives_up_the_queue_entry(LockErrorCode code) {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);
        fixture.backend.beforeAcquire = InterceptedBackend.failing(code);

        fixture.releaseElsewhere(other);

        assertThatEndedWith(code, waiter);
        fixture.advanceSlowly(Duration.ofSeconds(10), Duration.ofMillis(500));
        assertThat(fixture.backend.acquires).hasValue(2);
        assertThat(fixture.store.queue("order:42")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = LockErrorCode.class,
            names = {"SERVICE_UNAVAILABLE", "NETWORK_TIMEOUT", "RATE_LIMITED", "INTERNAL"})
    void an_error_while_the_queue_entry_is_renewed_ends_the_wait_with_that_error_and_the_key(LockErrorCode code) {
        fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);
        fixture.backend.beforeRenewal = InterceptedBackend.failing(code);

        advanceUntilDone(waiter);

        assertThatEndedWith(code, waiter);
        assertThatThrownBy(waiter::get).cause().hasMessageContaining("order:42");
        eventually().until(() -> fixture.store.queue("order:42").isEmpty());
        assertThat(fixture.backend.acquires).hasValue(1);
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

        assertThat(EngineFixture.got(waiter).isHeld()).isTrue();
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
    void a_grant_whose_answer_is_lost_in_the_middle_of_a_wait_is_released() {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.releaseElsewhere(other);

        advanceUntilDone(waiter);

        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockBackendException.class);
        assertThat(fixture.store.fence("order:42"))
                .as("fences, one for a request that is not repeated")
                .isEqualTo(2);
        eventually().until(() -> !locks.isLocked("order:42"));
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
