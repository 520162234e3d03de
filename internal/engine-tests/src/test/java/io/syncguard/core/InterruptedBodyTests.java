package io.syncguard.core;

import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockCallback;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A body that fails because a loss interrupted it: its caller gets the loss, not a cancellation. */
class InterruptedBodyTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42").noHeartbeat();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockTemplate template = new LockTemplate(fixture.engine);

    @AfterEach
    void noFlagIsLeftBehind() {
        assertThat(Thread.interrupted()).as("flag left behind").isFalse();
    }

    @Test
    void the_caller_of_a_body_that_the_loss_interrupts_gets_the_loss() {
        Throwable thrown = thrownUnder(REQUEST, lock -> lostAndInterrupted());

        assertLoss(thrown, "order:42").cause().isInstanceOf(InterruptedException.class);
        assertThat(thrown.getCause().getSuppressed()).isEmpty();
    }

    @Test
    void so_is_that_of_a_body_without_a_result() {
        Throwable thrown = catchThrowable(() -> template.executeWithoutResult(REQUEST, lock -> {
            var unused = lostAndInterrupted();
        }));

        assertLoss(thrown, "order:42").cause().isInstanceOf(InterruptedException.class);
    }

    @Test
    void so_is_that_of_a_try() {
        Throwable thrown = catchThrowable(() -> template.tryExecute(REQUEST, lock -> lostAndInterrupted()));

        assertLoss(thrown, "order:42").cause().isInstanceOf(InterruptedException.class);
    }

    static Stream<Exception> failuresOfAnInterrupt() {
        return Stream.of(
                new IllegalStateException("interrupted", new SQLException("pool", new InterruptedException())),
                new ClosedByInterruptException(),
                new FileLockInterruptionException(),
                new InterruptedIOException("interrupted"),
                new IOException(new SocketException("Closed by interrupt")),
                new LockException(LockErrorCode.ABORTED, "interrupted while acquiring"));
    }

    @ParameterizedTest
    @MethodSource("failuresOfAnInterrupt")
    void whatever_an_interrupt_is_called_where_the_body_was_is_the_cause(Exception failure) {
        Throwable thrown = thrownUnder(REQUEST, lock -> {
            spinUntilLost(lock);
            throw failure;
        });

        assertLoss(thrown, "order:42").cause().isSameAs(failure);
    }

    static Stream<Exception> otherFailures() {
        return Stream.of(
                new IllegalStateException("mine"),
                new SocketTimeoutException("Read timed out"),
                new SocketException("Connection reset"),
                new CancellationException(),
                new LockException(LockErrorCode.NETWORK_TIMEOUT, "late"),
                circular());
    }

    @ParameterizedTest
    @MethodSource("otherFailures")
    void another_failure_comes_first_and_the_loss_beneath_it(Exception failure) {
        Throwable thrown = thrownUnder(REQUEST, lock -> {
            spinUntilLost(lock);
            throw failure;
        });

        assertThat(thrown).isSameAs(failure);
        assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
    }

    @Test
    void a_wait_for_another_lock_that_the_loss_interrupts_is_a_loss() {
        fixture.holdElsewhere("busy", Duration.ofHours(1));

        Throwable thrown = thrownUnder(REQUEST, lock -> {
            spinUntilLost(lock);
            return fixture.engine.acquire(LockRequest.of("busy").waitTime(Duration.ofHours(1)));
        });

        assertLoss(thrown, "order:42").cause().isInstanceOf(LockException.class);
    }

    @Test
    void an_interrupt_that_was_there_before_the_loss_stays_an_interrupt() {
        Throwable thrown = thrownUnder(REQUEST, lock -> {
            Thread.currentThread().interrupt();
            fixture.time.advance(EngineFixture.TTL);
            spinUntil(lock, LockHandle.State.LOST);
            new CountDownLatch(1).await();
            return lock;
        });

        assertThat(thrown).isInstanceOf(InterruptedException.class);
        assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
    }

    @Test
    void the_flag_of_an_interrupt_that_was_there_before_the_loss_stays_as_the_body_left_it() {
        Throwable thrown = thrownUnder(REQUEST, lock -> {
            Thread.currentThread().interrupt();
            fixture.time.advance(EngineFixture.TTL);
            spinUntil(lock, LockHandle.State.LOST);
            throw new IllegalStateException(new InterruptedException());
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(thrown).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void an_interrupt_by_somebody_else_stays_one_where_the_loss_only_notifies() {
        Throwable thrown = thrownUnder(REQUEST.onLost(OnLost.NOTIFY), lock -> {
            fixture.time.advance(EngineFixture.TTL);
            spinUntil(lock, LockHandle.State.LOST);
            Thread.currentThread().interrupt();
            new CountDownLatch(1).await();
            return lock;
        });

        assertThat(thrown).isInstanceOf(InterruptedException.class);
        assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
    }

    @Test
    void a_bound_task_that_the_loss_interrupts_throws_the_loss_on_its_thread() throws Exception {
        LockHandle lock = fixture.engine.acquire(REQUEST);
        Callable<LockHandle> bound = lock.bind(this::lostAndInterrupted);

        FutureTask<Throwable> thrown = inAnotherThread(() -> catchThrowable(bound::call));

        assertLoss(got(thrown), "order:42").cause().isInstanceOf(InterruptedException.class);
    }

    @Test
    void so_does_one_without_a_result() throws Exception {
        LockHandle lock = fixture.engine.acquire(REQUEST);
        Runnable bound = lock.bind((Runnable) () -> {
            try {
                lostAndInterrupted();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", ex);
            }
        });

        FutureTask<Throwable> thrown = inAnotherThread(() -> {
            Throwable failure = catchThrowable(bound::run);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return failure;
        });

        assertLoss(got(thrown), "order:42")
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasCauseInstanceOf(InterruptedException.class);
    }

    /** Which of the bodies is interrupted first is random. */
    @RepeatedTest(20)
    void a_loss_is_thrown_once_by_a_body_and_those_around_it_under_the_same_lock() {
        Throwable thrown = thrownUnder(
                REQUEST,
                outer -> template.execute(REQUEST, middle -> {
                    Throwable inner = thrownUnder(REQUEST, lock -> lostAndInterrupted());
                    assertLoss(inner, "order:42").cause().isInstanceOf(InterruptedException.class);
                    throw failure(inner);
                }));

        assertLoss(thrown, "order:42").cause().isInstanceOf(InterruptedException.class);
        assertThat(thrown.getCause().getSuppressed()).isEmpty();
    }

    @Test
    void so_is_one_whose_inner_body_only_wants_to_be_notified() {
        Throwable thrown = thrownUnder(
                REQUEST, outer -> template.execute(REQUEST.onLost(OnLost.NOTIFY), inner -> lostAndInterrupted()));

        assertLoss(thrown, "order:42").cause().isInstanceOf(InterruptedException.class);
        assertThat(thrown.getCause().getSuppressed()).isEmpty();
    }

    @Test
    void so_is_one_that_a_handle_throws_in_the_body() {
        Throwable thrown = thrownUnder(REQUEST.onLost(OnLost.NOTIFY), lock -> {
            fixture.time.advance(EngineFixture.TTL);
            spinUntil(lock, LockHandle.State.LOST);
            return lock.rotateFence();
        });

        assertLoss(thrown, "order:42").hasNoCause();
    }

    @Test
    void a_body_within_under_a_lock_that_is_not_lost_is_only_interrupted() {
        LockRequest within = LockRequest.of("within").ttl(Duration.ofHours(1)).noHeartbeat();

        Throwable thrown = thrownUnder(REQUEST, outer -> {
            Throwable inner = thrownUnder(within, lock -> lostAndInterrupted());
            assertThat(inner).isInstanceOf(InterruptedException.class).hasNoSuppressedExceptions();
            throw failure(inner);
        });

        assertLoss(thrown, "order:42").cause().isInstanceOf(InterruptedException.class);
    }

    /** Which of the bodies is interrupted first is random. */
    @RepeatedTest(20)
    void of_two_locks_that_are_lost_together_the_inner_one_comes_first() {
        Throwable thrown = thrownUnder(
                LockRequest.of("outer").noHeartbeat(),
                outer -> template.execute(LockRequest.of("inner").noHeartbeat(), inner -> {
                    fixture.time.advance(EngineFixture.TTL);
                    spinUntil(outer, LockHandle.State.LOST);
                    spinUntil(inner, LockHandle.State.LOST);
                    new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                    return inner;
                }));

        assertThat(thrown)
                .isInstanceOfSatisfying(
                        LockLostException.class, ex -> assertThat(ex.key()).isEqualTo("inner"))
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(thrown.getSuppressed())
                .singleElement()
                .isInstanceOfSatisfying(
                        LockLostException.class, ex -> assertThat(ex.key()).isEqualTo("outer"));
    }

    private Throwable thrownUnder(LockRequest request, LockCallback<@Nullable Object, Exception> body) {
        return catchThrowable(() -> template.<@Nullable Object, Exception>execute(request, body));
    }

    private static AbstractThrowableAssert<?, ?> assertLoss(Throwable thrown, String key) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        LockLostException.class, ex -> assertThat(ex.key()).isEqualTo(key));
        assertThat(thrown.getSuppressed()).isEmpty();
        return assertThat(thrown);
    }

    private LockHandle lostAndInterrupted() throws InterruptedException {
        fixture.time.advance(EngineFixture.TTL);
        new CountDownLatch(1).await(10, TimeUnit.SECONDS);
        throw new AssertionError("not interrupted");
    }

    /** Spins, because a library method that waits would clear the interrupt flag. */
    private void spinUntilLost(LockHandle lock) {
        fixture.time.advance(EngineFixture.TTL);
        spinUntil(lock, LockHandle.State.LOST);
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!Thread.currentThread().isInterrupted() && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    private static void spinUntil(LockHandle lock, LockHandle.State state) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (lock.state() != state && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(lock.state()).isEqualTo(state);
    }

    private static Exception failure(Throwable thrown) {
        assertThat(thrown).isInstanceOf(Exception.class);
        return (Exception) thrown;
    }

    private static Exception circular() {
        Exception one = new IllegalStateException("one");
        Exception two = new IllegalStateException("two", one);
        one.initCause(two);
        return one;
    }
}
