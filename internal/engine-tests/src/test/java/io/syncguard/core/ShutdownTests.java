package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ShutdownTests {

    /** A thread that does not wait looks at the clock less often. */
    private static final long LOOKS_OF_A_WAIT = 10;

    private static final LockRequest PATIENT = LockRequest.of("busy").waitTime(Duration.ofMinutes(5));

    /** The threads of other tests, which may be about to end. */
    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @BugOf("db-scheduler: the shutdown stops heartbeats before the work has ended")
    @Test
    void bodies_may_end_with_heartbeats_going_on_before_the_backend_closes() {
        LockHandle lock = locks.acquire(LockRequest.of("order:42").ttl(Duration.ofSeconds(3)));
        FutureTask<Void> closing = closeInAnotherThread();

        eventually().until(() -> !locks.grantsLocks());
        fixture.advanceSlowly(Duration.ofSeconds(8), Duration.ofMillis(500));
        assertThat(lock.isHeld()).isTrue();
        assertThat(fixture.backend.closed).isFalse();
        assertThat(lock.release()).isTrue();

        eventually().until(closing::isDone);
        assertThat(fixture.backend.closed).isTrue();
    }

    @Test
    void no_new_locks_are_granted() {
        locks.stop();

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(LockRequest.of("order:42")))
                .withMessageContaining("shutting down")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
        assertThat(fixture.backend.acquires).hasValue(0);
    }

    @Test
    void a_request_that_the_end_of_the_connections_breaks_is_aborted() {
        fixture.backend.beforeAcquire = () -> {
            locks.stop();
            throw InterceptedBackend.failure(LockErrorCode.INTERNAL);
        };

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(LockRequest.of("order:42")))
                .withMessageContaining("shutting down")
                .withCauseInstanceOf(LockBackendException.class)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
    }

    @Test
    void what_is_still_held_at_the_end_is_lost_for_its_holder_and_free_for_others() {
        LockHandle lock = locks.acquire(LockRequest.of("order:42"));
        FutureTask<Void> closing = closeInAnotherThread();
        eventually().until(() -> !locks.grantsLocks());

        fixture.advanceUntil(closing::isDone);

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(fixture.backend.lookup("order:42")).isEmpty();
    }

    /** Its caller releases it: nobody else knows of it. */
    @Test
    void a_grant_that_is_on_its_way_is_released_before_the_backend_closes() throws Exception {
        CountDownLatch granted = new CountDownLatch(1);
        CountDownLatch mayArrive = new CountDownLatch(1);
        fixture.backend.afterAcquire = () -> {
            granted.countDown();
            await(mayArrive);
        };
        FutureTask<LockHandle> caller = inAnotherThread(() -> locks.acquire(LockRequest.of("order:42")));
        granted.await();
        Thread closing = new Thread(locks::close);
        closing.start();

        eventually().until(() -> fixture.time.looks().containsKey(closing));
        assertThat(fixture.backend.closed).isFalse();
        mayArrive.countDown();

        closing.join();
        assertThat(fixture.backend.lookup("order:42")).isEmpty();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(caller::get)
                .withStackTraceContaining("shutting down");
    }

    @Test
    void a_release_that_is_on_its_way_is_no_loss() throws Exception {
        LockHandle lock = locks.acquire(LockRequest.of("order:42"));
        CountDownLatch sent = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        fixture.backend.beforeRelease = () -> {
            sent.countDown();
            await(mayGoOn);
        };
        FutureTask<Boolean> release = inAnotherThread(lock::release);
        sent.await();
        fixture.backend.beforeRelease = () -> {};
        FutureTask<Void> closing = closeInAnotherThread();
        eventually().until(() -> !locks.grantsLocks());

        fixture.advanceSlowly(Duration.ofSeconds(11), Duration.ofSeconds(1));
        mayGoOn.countDown();

        assertThat(release.get()).isTrue();
        fixture.advanceUntil(closing::isDone);
        assertThat(fixture.events).containsExactly("acquired", "released");
    }

    /** A leader that steps down interrupts its task, which may be what closes the application. */
    @Test
    void an_interrupted_thread_does_not_close_the_backend_before_a_grant_that_is_on_its_way_is_released()
            throws Exception {
        CountDownLatch granted = new CountDownLatch(1);
        CountDownLatch mayArrive = new CountDownLatch(1);
        fixture.backend.afterAcquire = () -> {
            granted.countDown();
            await(mayArrive);
        };
        fixture.backend.beforeRelease = this::failIfClosed;
        FutureTask<LockHandle> caller = inAnotherThread(() -> locks.acquire(LockRequest.of("order:42")));
        granted.await();

        FutureTask<Boolean> flag = closeInInterruptedThread();
        mayArrive.countDown();

        assertThat(got(flag)).isTrue();
        eventually().until(caller::isDone);
        assertThat(fixture.backend.lookup("order:42")).isEmpty();
    }

    @Test
    void an_interrupted_thread_does_not_close_the_backend_before_a_release_that_is_on_its_way_arrives()
            throws Exception {
        LockHandle lock = locks.acquire(LockRequest.of("order:42"));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        fixture.backend.beforeRelease = () -> {
            begun.countDown();
            await(mayGoOn);
            failIfClosed();
        };
        FutureTask<Boolean> release = inAnotherThread(lock::release);
        begun.await();

        FutureTask<Boolean> flag = closeInInterruptedThread();
        mayGoOn.countDown();

        assertThat(got(release)).isTrue();
        assertThat(got(flag)).isTrue();
        assertThat(fixture.backend.lookup("order:42")).isEmpty();
    }

    /** Its loss interrupts the thread that stops the engine. A pool gives no connection to an interrupted thread. */
    @Test
    void a_body_that_closes_the_locks_leaves_its_key_free_although_its_loss_interrupts_it() throws Exception {
        fixture.backend.beforeRelease = () -> {
            if (Thread.currentThread().isInterrupted()
                    || Thread.currentThread().getName().equals("syncguard-release")) {
                throw InterceptedBackend.failure(LockErrorCode.ABORTED);
            }
        };
        FutureTask<Boolean> flag =
                inAnotherThread(() -> new LockTemplate(locks).execute(LockRequest.of("order:42"), lock -> {
                    locks.close();
                    return Thread.interrupted();
                }));
        eventually().until(() -> !locks.grantsLocks());

        fixture.advanceUntil(flag::isDone);

        assertThat(fixture.backend.lookup("order:42")).isEmpty();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(flag::get)
                .withCauseInstanceOf(LockLostException.class);
    }

    /** The grant has no handle yet. */
    @Test
    void a_listener_that_closes_the_locks_at_the_end_of_a_wait_leaves_the_key_free() {
        AtomicReference<LockEngine> closing = new AtomicReference<>();
        EngineFixture process = new EngineFixture(new LockListener() {
            @Override
            public void waitEnded(LockEvent event) {
                closing.get().close();
            }
        });
        closing.set(process.engine);
        process.backend.beforeRelease = () -> failIfClosed(process);
        AcquireRequest other = process.holdElsewhere("order:42", EngineFixture.TTL);
        FutureTask<LockHandle> waiter = process.startWaiting(LockRequest.of("order:42"));

        process.releaseElsewhere(other);

        eventually().until(waiter::isDone);
        assertThat(process.backend.lookup("order:42")).isEmpty();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(waiter::get)
                .withStackTraceContaining("shutting down");
    }

    @Test
    void one_release_that_fails_does_not_stop_the_others() {
        LockHandle poisoned = locks.acquire(LockRequest.of("a"));
        locks.acquire(LockRequest.of("b"));
        fixture.backend.onReleases = ids -> {
            if (ids.contains(new KeyedLockId(poisoned.key(), poisoned.lockId()))) {
                throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
            }
        };
        FutureTask<Void> closing = closeInAnotherThread();
        eventually().until(() -> !locks.grantsLocks());

        fixture.advanceUntil(closing::isDone);

        assertThat(fixture.backend.closed).isTrue();
        assertThat(fixture.backend.isLocked("b")).isFalse();
    }

    @Test
    void a_caller_that_waits_while_tasks_go_on_is_aborted_when_the_shutdown_timeout_is_over() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));
        LockRequest request = LockRequest.of("busy").waitTime(Duration.ofMinutes(5));
        FutureTask<LockHandle> one = fixture.startWaiting(request);
        FutureTask<LockHandles> several = inAnotherThread(
                () -> locks.acquire(List.of(LockRequest.of("a").waitTime(Duration.ofMinutes(5)), request)));
        eventually().until(() -> fixture.store.queue("busy").size() == 2);
        // The second caller holds a key meanwhile, so the drain waits.
        Thread draining = new Thread(locks::drain);
        draining.start();
        eventually().until(() -> fixture.time.looks().containsKey(draining));

        fixture.advanceSlowly(Duration.ofSeconds(9), Duration.ofSeconds(1));
        assertThat(one.isDone() || several.isDone()).isFalse();
        fixture.time.advance(Duration.ofSeconds(1));

        for (FutureTask<?> caller : List.of(one, several)) {
            eventually().until(caller::isDone);
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(caller::get)
                    .withStackTraceContaining("shutting down")
                    .satisfies(ex ->
                            assertThat(((LockException) ex.getCause()).code()).isEqualTo(LockErrorCode.ABORTED));
        }
        eventually().until(() -> fixture.store.queue("busy").isEmpty() && !fixture.backend.isLocked("a"));
    }

    @Test
    void a_caller_that_only_waits_is_aborted_when_the_end_begins_and_a_free_key_is_granted() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));
        FutureTask<LockHandle> waiter = fixture.startWaiting(PATIENT);

        locks.abortWaiters(Thread.currentThread());

        assertAbortedByTheEnd(waiter);
        assertThat(locks.tryAcquire(LockRequest.of("free"))).isNotNull();
    }

    @Test
    void a_caller_that_waits_for_one_of_several_locks_is_aborted_and_gives_the_others_back() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));
        FutureTask<LockHandles> waiter = inAnotherThread(
                () -> locks.acquire(List.of(LockRequest.of("a").waitTime(Duration.ofMinutes(5)), PATIENT)));
        eventually().until(() -> fixture.store.queue("busy").size() == 1);

        locks.abortWaiters(Thread.currentThread());

        assertAbortedByTheEnd(waiter);
        eventually().until(() -> !fixture.backend.isLocked("a"));
    }

    @Test
    void a_caller_that_begins_to_wait_after_that_is_aborted_at_the_next_time() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));
        locks.abortWaiters(Thread.currentThread());

        for (long pause = 100; pause <= 6400; pause *= 2) {
            FutureTask<LockHandle> waiter = fixture.startWaiting(PATIENT);
            fixture.advanceSlowly(Duration.ofMillis(pause - 1), Duration.ofMillis(pause - 1));
            assertThat(waiter.isDone()).isFalse();
            fixture.time.advance(Duration.ofMillis(1));
            assertAbortedByTheEnd(waiter);
        }
    }

    @Test
    void a_second_beginning_aborts_nobody_earlier() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));
        locks.abortWaiters(Thread.currentThread());
        FutureTask<LockHandle> waiter = fixture.startWaiting(PATIENT);

        locks.abortWaiters(Thread.currentThread());
        fixture.settle();

        assertThat(waiter.isDone()).isFalse();
    }

    @Test
    void a_body_waits_on_for_its_next_lock() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("busy", Duration.ofHours(1));
        assertWaitsOn(other, () -> new LockTemplate(locks).execute("outer", outer -> isGranted()));
    }

    @Test
    void a_task_that_is_bound_to_a_lock_waits_on_for_its_next_one() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("busy", Duration.ofHours(1));
        LockHandle outer = locks.acquire(LockRequest.of("outer"));
        assertWaitsOn(other, outer.bind(this::isGranted));
    }

    @Test
    void a_caller_that_holds_a_handle_waits_on_for_its_next_lock() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("busy", Duration.ofHours(1));
        assertWaitsOn(other, () -> {
            try (LockHandle outer = locks.acquire(LockRequest.of("outer"))) {
                return isGranted() && outer.isHeld();
            }
        });
    }

    /** A future that a method has returned keeps its lock, and the thread has gone on to its next call. */
    @Test
    void a_caller_whose_earlier_body_has_ended_is_aborted_although_its_lock_is_still_held() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));
        FutureTask<LockHandle> waiter = inAnotherThread(() -> {
            locks.acquire(LockRequest.of("outer")).bind(() -> "a future").call();
            return locks.acquire(PATIENT);
        });
        eventually().until(() -> fixture.store.queue("busy").size() == 1);

        locks.abortWaiters(Thread.currentThread());

        assertAbortedByTheEnd(waiter);
    }

    @Test
    void the_thread_that_stops_the_application_may_wait() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("busy", Duration.ofHours(1));
        FutureTask<Boolean> stopping = inAnotherThread(() -> {
            locks.abortWaiters(Thread.currentThread());
            return isGranted();
        });
        eventually().until(() -> fixture.store.queue("busy").size() == 1);

        fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofMillis(100));
        fixture.releaseElsewhere(other);

        assertThat(got(stopping)).isTrue();
    }

    @Test
    void a_task_that_is_waited_for_may_wait_while_the_engine_drains() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("busy", Duration.ofHours(1));
        locks.abortWaiters(Thread.currentThread());
        locks.drain();
        FutureTask<LockHandle> waiter = fixture.startWaiting(PATIENT);

        fixture.advanceSlowly(Duration.ofSeconds(9), Duration.ofSeconds(1));
        fixture.releaseElsewhere(other);

        assertThat(got(waiter).isHeld()).isTrue();
    }

    @Test
    void a_caller_waits_for_its_whole_time_after_a_new_start() throws Exception {
        AcquireRequest other = fixture.holdElsewhere("busy", Duration.ofHours(1));
        locks.abortWaiters(Thread.currentThread());
        locks.drain();
        locks.start();
        FutureTask<LockHandle> waiter = fixture.startWaiting(PATIENT);

        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofSeconds(1));
        fixture.releaseElsewhere(other);

        assertThat(got(waiter).isHeld()).isTrue();
    }

    @Test
    void a_stopped_engine_can_be_started_again() {
        locks.stop();
        locks.start();

        assertThat(locks.tryAcquire(LockRequest.of("order:42"))).isNotNull();
    }

    @Test
    void no_thread_is_left() {
        String mine = "syncguard-";
        locks.acquire(LockRequest.of("order:42")).release();
        fixture.close();

        eventually()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> !threadsBefore.contains(thread)
                                && thread.getName().startsWith(mine)
                                && !thread.getName().contains("lost")));
    }

    private boolean isGranted() {
        return locks.acquire(PATIENT).release();
    }

    private void assertWaitsOn(AcquireRequest other, Callable<Boolean> work) throws Exception {
        FutureTask<Boolean> holder = inAnotherThread(work);
        eventually().until(() -> fixture.store.queue("busy").size() == 1);

        locks.abortWaiters(Thread.currentThread());
        fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofMillis(100));
        fixture.releaseElsewhere(other);

        assertThat(got(holder)).isTrue();
    }

    private void assertAbortedByTheEnd(FutureTask<?> waiter) {
        eventually().until(waiter::isDone);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(waiter::get)
                .withStackTraceContaining("shutting down, so callers that hold no lock wait no longer: lock 'busy'")
                .satisfies(
                        ex -> assertThat(((LockException) ex.getCause()).code()).isEqualTo(LockErrorCode.ABORTED));
        eventually().until(() -> fixture.store.queue("busy").isEmpty());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private void failIfClosed() {
        failIfClosed(fixture);
    }

    private static void failIfClosed(EngineFixture process) {
        if (process.backend.closed) {
            throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
        }
    }

    /**
     * Closes the locks, and returns whether the thread still has its flag then. Waits until it waits for others, or
     * does not: an interrupted one that looks at the clock again and again does.
     */
    private FutureTask<Boolean> closeInInterruptedThread() {
        FutureTask<Boolean> closing = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            locks.close();
            return Thread.interrupted();
        });
        Thread thread = new Thread(closing);
        thread.start();
        eventually().until(() -> closing.isDone() || fixture.time.looks().getOrDefault(thread, 0L) > LOOKS_OF_A_WAIT);
        return closing;
    }

    private FutureTask<Void> closeInAnotherThread() {
        Callable<Void> close = () -> {
            locks.close();
            return null;
        };
        return inAnotherThread(close);
    }
}
