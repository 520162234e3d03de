package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A waiting caller: what wakes it, what it requests meanwhile, and when it gives up. */
class WaitTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");
    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void a_waiter_is_handed_the_key_by_the_release() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);

        fixture.releaseElsewhere(other);

        assertThat(got(waiter).fence().value()).isEqualTo(2);
        assertThat(fixture.events).containsExactly("waitStarted", "waitEnded", "acquired");
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void a_waiter_whom_nobody_can_wake_asks_again_and_again() throws Exception {
        fixture.disconnect();
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);

        fixture.releaseElsewhere(other);
        fixture.advanceSlowly(Duration.ofMillis(500), Duration.ofMillis(100));

        assertThat(got(waiter).isHeld()).isTrue();
    }

    @Test
    void a_waiter_asks_again_when_the_lease_in_its_way_is_over() throws Exception {
        fixture.holdElsewhere("order:42", Duration.ofMillis(10));
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);

        fixture.advanceSlowly(Duration.ofMillis(1010), Duration.ofMillis(101));

        assertThat(got(waiter).isHeld()).isTrue();
    }

    @BugOf("SyncGuard for TypeScript: a waiter sleeps to its deadline and gives up without the last try")
    @Test
    void the_last_attempt_happens_at_the_deadline() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(Duration.ofSeconds(5)));
        fixture.advanceSlowly(Duration.ofMillis(4_990), Duration.ofMillis(499));

        fixture.releaseElsewhere(other);
        fixture.time.advance(Duration.ofMillis(10));

        assertThat(got(waiter).isHeld()).isTrue();
    }

    @Test
    void a_waiter_gives_up_at_the_deadline_and_not_before() {
        fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(Duration.ofSeconds(5)));

        fixture.advanceSlowly(Duration.ofMillis(4_990), Duration.ofMillis(499));
        assertThat(waiter.isDone()).isFalse();
        fixture.time.advance(Duration.ofMillis(10));

        eventually().until(waiter::isDone);
        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockNotAcquiredException.class);
        assertThat(fixture.events).containsExactly("waitStarted", "waitEnded", "refused");
    }

    @Test
    void a_waiter_asks_twice_and_keeps_its_queue_entry_in_between() {
        fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(Duration.ofSeconds(20)));

        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(100));

        eventually().until(waiter::isDone);
        assertThat(fixture.backend.acquires).hasValue(2);
        assertThat(fixture.backend.renewalStatements)
                .as("one for each third of the queue entry's five seconds, or a quarter earlier")
                .hasValueBetween(11, 16);
        assertThat(fixture.store.queue("order:42")).isEmpty();
    }

    @Test
    void a_waiter_whom_nobody_can_wake_does_not_flood_the_server() {
        fixture.disconnect();
        fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(Duration.ofSeconds(5)));

        fixture.advanceSlowly(Duration.ofSeconds(5), Duration.ofMillis(50));

        eventually().until(waiter::isDone);
        assertThat(fixture.backend.renewalStatements).hasValueBetween(10, 40);
        assertThat(fixture.backend.acquires).hasValue(2);
    }

    @Test
    void an_answer_that_came_long_after_the_deadline_was_the_last() {
        fixture.holdElsewhere("order:42", LONG);
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(6));

        assertThatThrownBy(() -> locks.acquire(REQUEST.waitTime(Duration.ofSeconds(5))))
                .isInstanceOf(LockNotAcquiredException.class);

        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void an_interrupt_ends_the_wait_at_once_and_the_flag_stays() throws Exception {
        fixture.holdElsewhere("order:42", LONG);
        AtomicReference<Thread> thread = new AtomicReference<>();
        FutureTask<Boolean> waiter = inAnotherThread(() -> {
            thread.set(Thread.currentThread());
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> locks.acquire(REQUEST))
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
            return Thread.currentThread().isInterrupted();
        });
        eventually().until(() -> fixture.store.queue("order:42").size() == 1);

        thread.get().interrupt();

        assertThat(waiter.get()).isTrue();
        assertThat(fixture.events).containsExactly("waitStarted", "waitEnded", "failed ACQUIRE ABORTED");
        eventually().until(() -> fixture.store.queue("order:42").isEmpty());
    }

    @Test
    void a_waiter_is_aborted_when_the_application_stops() {
        fixture.holdElsewhere("order:42", LONG);
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(LONG));

        locks.stop();
        fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofMillis(100));

        eventually().until(waiter::isDone);
        assertThatThrownBy(waiter::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
        assertThat(fixture.store.queue("order:42")).isEmpty();
    }
}
