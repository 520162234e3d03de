package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.RequestNotSentException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An interrupt by other code, whatever the thread does: the flag stays set, and no lock stays taken. */
class InterruptTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private final EngineFixture fixture = new EngineFixture();
    private final LockEngine locks = fixture.engine;

    @AfterEach
    void close() {
        // Clears the flag, which a failed test may have left set, for the next test.
        boolean unused = Thread.interrupted();
        fixture.close();
    }

    @Test
    void one_that_comes_while_the_server_refuses_ends_the_wait_before_the_next_attempt() throws Exception {
        fixture.holdElsewhere("order:42", Duration.ofHours(1));
        fixture.backend.afterAcquire = () -> Thread.currentThread().interrupt();

        FutureTask<Boolean> flag = inAnotherThread(() -> {
            assertAborted(() -> locks.acquire(REQUEST));
            return Thread.currentThread().isInterrupted();
        });

        eventually().until(flag::isDone);
        assertThat(flag.get()).isTrue();
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void one_that_comes_while_the_server_grants_leaves_a_lock_that_can_be_given_back() {
        fixture.backend.afterAcquire = Thread.currentThread()::interrupt;

        LockHandle lock = locks.acquire(REQUEST);

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void one_that_the_body_ignores_reaches_the_caller_with_the_result() {
        String result = new LockTemplate(locks).execute(REQUEST, lock -> {
            Thread.currentThread().interrupt();
            return "done";
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(result).isEqualTo("done");
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(fixture.events).containsExactly("acquired", "released");
    }

    @Test
    void one_that_ends_the_body_reaches_the_caller_as_the_bodys_own_exception() throws Exception {
        FutureTask<Void> body = inAnotherThread(() -> new LockTemplate(locks).execute(REQUEST, lock -> {
            Thread.currentThread().interrupt();
            new CountDownLatch(1).await();
            return null;
        }));

        eventually().until(body::isDone);
        assertThatThrownBy(body::get)
                .cause()
                .isInstanceOf(InterruptedException.class)
                .satisfies(ex -> assertThat(ex.getSuppressed()).isEmpty());
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(fixture.events).containsExactly("acquired", "released");
    }

    /** SyncGuard for TypeScript cancelled the release together with the work. */
    @Test
    void one_that_comes_while_the_release_is_under_way_does_not_keep_it_from_its_end() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = Thread.currentThread()::interrupt;

        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void one_that_breaks_the_release_in_the_driver_has_it_sent_again_before_the_call_returns() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = () -> {
            fixture.backend.beforeRelease = () -> {};
            breakByInterrupt();
        };

        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(fixture.events).containsExactly("acquired", "released");
    }

    @Test
    void one_that_takes_the_answer_of_the_release_away_does_not_make_it_a_loss() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterRelease = () -> {
            fixture.backend.afterRelease = () -> {};
            breakByInterrupt();
        };

        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(fixture.events).containsExactly("acquired", "released");
    }

    @Test
    void one_that_breaks_a_release_by_lock_id_has_it_sent_again_before_the_call_returns() {
        AcquireRequest elsewhere = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        fixture.backend.beforeRelease = () -> {
            fixture.backend.beforeRelease = () -> {};
            breakByInterrupt();
        };

        assertThat(locks.release(elsewhere.lockId())).isTrue();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void interrupts_that_never_end_leave_the_release_to_the_background() {
        LockHandle lock = locks.acquire(REQUEST);
        Thread mine = Thread.currentThread();
        fixture.backend.beforeRelease = () -> {
            if (Thread.currentThread() == mine) {
                breakByInterrupt();
            }
        };

        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
        eventually().until(() -> !locks.isLocked("order:42"));
    }

    @Test
    void one_that_comes_before_the_request_was_sent_leaves_nothing_to_release() {
        fixture.backend.beforeAcquire = () -> {
            Thread.currentThread().interrupt();
            throw new RequestNotSentException(InterceptedBackend.failure(LockErrorCode.ABORTED));
        };

        assertAborted(() -> locks.acquire(REQUEST));

        assertThat(Thread.interrupted()).isTrue();
        fixture.advanceSlowly(Duration.ofSeconds(6), Duration.ofSeconds(1));
        assertThat(fixture.backend.releases).hasValue(0);
    }

    @Test
    void waiters_who_are_interrupted_together_leave_in_one_statement() throws Exception {
        fixture.holdElsewhere("order:42", Duration.ofHours(1));
        List<Thread> waiters = IntStream.range(0, 20)
                .mapToObj(i -> new Thread(() -> assertAborted(() -> locks.acquire(REQUEST))))
                .toList();
        waiters.forEach(Thread::start);
        eventually().until(() -> fixture.store.queue("order:42").size() == waiters.size());
        CountDownLatch serverAnswers = new CountDownLatch(1);
        fixture.backend.beforeRelease = () -> awaitUninterruptibly(serverAnswers);

        waiters.forEach(Thread::interrupt);
        for (Thread waiter : waiters) {
            waiter.join(Duration.ofSeconds(10).toMillis());
        }

        assertThat(waiters).as("threads that wait for the server").noneMatch(Thread::isAlive);
        serverAnswers.countDown();
        eventually().until(() -> fixture.store.queue("order:42").isEmpty());
        assertThat(fixture.backend.releaseAllStatements)
                .as("one statement for the first waiter, one for all others")
                .hasValueLessThanOrEqualTo(2);
        assertThat(fixture.backend.releases).hasValue(waiters.size());
    }

    @Test
    void one_that_came_before_a_release_by_lock_id_does_not_keep_it_from_being_sent() {
        AcquireRequest elsewhere = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        fixture.backend.beforeRelease =
                () -> assertThat(Thread.currentThread().isInterrupted()).isFalse();

        Thread.currentThread().interrupt();
        boolean released = locks.release(elsewhere.lockId());

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
    }

    @Test
    void one_that_comes_while_an_extension_waits_for_a_pinned_row_ends_the_extension_and_not_the_lock() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.rowsArePinned = true;
        fixture.backend.beforeExtend = Thread.currentThread()::interrupt;

        assertAborted(() -> lock.extend(Duration.ofMinutes(1)));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        assertHeartbeatsGoOn(lock);
    }

    @Test
    void one_that_breaks_an_extension_in_the_driver_leaves_the_lock_held() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = () -> {
            Thread.currentThread().interrupt();
            throw InterceptedBackend.failure(LockErrorCode.ABORTED);
        };

        assertAborted(() -> lock.extend(Duration.ofMinutes(1)));

        assertThat(Thread.interrupted()).isTrue();
        assertHeartbeatsGoOn(lock);
    }

    @Test
    void one_that_comes_while_an_extension_waits_for_another_ends_it_and_not_the_lock() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch serverAnswers = new CountDownLatch(1);
        fixture.backend.beforeExtend = () -> {
            asked.countDown();
            awaitUninterruptibly(serverAnswers);
        };
        FutureTask<Boolean> first = inAnotherThread(() -> lock.extend(EngineFixture.TTL));
        eventually().until(() -> asked.getCount() == 0);
        FutureTask<Boolean> flag = new FutureTask<>(() -> {
            assertAborted(() -> lock.extend(Duration.ofMinutes(1)));
            return Thread.currentThread().isInterrupted();
        });
        Thread second = new Thread(flag);
        second.start();
        eventually().until(() -> second.getState() == Thread.State.WAITING);

        second.interrupt();

        assertThat(EngineFixture.got(flag)).isTrue();
        serverAnswers.countDown();
        assertThat(EngineFixture.got(first)).isTrue();
        assertHeartbeatsGoOn(lock);
    }

    private static void breakByInterrupt() {
        Thread.currentThread().interrupt();
        throw InterceptedBackend.failure(LockErrorCode.ABORTED);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException("Nobody interrupts a thread of the engine", ex);
        }
    }

    private void assertHeartbeatsGoOn(LockHandle lock) {
        fixture.backend.rowsArePinned = false;
        fixture.backend.beforeExtend = () -> {};
        fixture.advanceSlowly(Duration.ofMinutes(2), Duration.ofSeconds(5));
        assertThat(lock.isHeld()).isTrue();
        assertThat(fixture.events).contains("extended");
    }

    private static void assertAborted(Runnable call) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(call::run)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
    }
}
