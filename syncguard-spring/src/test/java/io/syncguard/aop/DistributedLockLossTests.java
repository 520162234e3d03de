package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.OnContention;
import io.syncguard.OnLost;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * A lock that is lost while an annotated method runs.
 */
@Timeout(60)
class DistributedLockLossTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Jobs.class, Losses.class);

    @AfterEach
    void noFlagIsLeftBehind() {
        assertThat(Thread.interrupted()).as("flag left behind").isFalse();
    }

    @Test
    void the_thread_of_the_body_is_interrupted() {
        runner.run(context -> {
            AtomicBoolean interrupted = new AtomicBoolean();

            assertThatThrownBy(() -> context.getBean(Jobs.class).interrupted(() -> {
                        lose("job");
                        interrupted.set(Thread.currentThread().isInterrupted());
                        return "done";
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(interrupted).isTrue();
        });
    }

    @Test
    void a_body_that_waits_is_woken_up_by_the_interrupt() {
        runner.run(context -> {
            CountDownLatch never = new CountDownLatch(1);

            assertThatThrownBy(() -> context.getBean(Jobs.class).shortLived(() -> {
                        application.store.expire("short");
                        return never.await(10, TimeUnit.SECONDS);
                    }))
                    .isInstanceOf(LockLostException.class)
                    .hasNoSuppressedExceptions()
                    .cause()
                    .isInstanceOf(InterruptedException.class)
                    .hasNoSuppressedExceptions();
        });
    }

    @Test
    void so_is_one_behind_an_annotation_of_ones_own_and_its_loss_is_reported() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Jobs.class).composed(() -> waitUntilInterruptedByLossOf("job")))
                .isInstanceOf(LockLostException.class)
                .hasNoSuppressedExceptions()
                .hasCauseInstanceOf(InterruptedException.class));
    }

    @Test
    void so_is_one_of_a_method_that_could_have_returned_a_future() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Jobs.class).undeclared(() -> waitUntilInterruptedByLossOf("job")))
                .isInstanceOf(LockLostException.class)
                .hasNoSuppressedExceptions()
                .hasCauseInstanceOf(InterruptedException.class));
    }

    @Test
    void so_is_one_that_joined_the_lock_of_another() {
        runner.run(context -> {
            Jobs jobs = context.getBean(Jobs.class);

            assertThatThrownBy(() -> jobs.interrupted(() -> jobs.undeclared(() -> waitUntilInterruptedByLossOf("job"))))
                    .isInstanceOf(LockLostException.class)
                    .hasNoSuppressedExceptions()
                    .cause()
                    .isInstanceOf(InterruptedException.class)
                    .hasNoSuppressedExceptions();
        });
    }

    @Test
    void so_is_one_under_several_locks_of_which_any_is_lost() {
        runner.run(context -> {
            for (String lost : List.of("a", "b")) {
                assertThatThrownBy(() -> context.getBean(Jobs.class)
                                .all(List.of("a", "b"), () -> waitUntilInterruptedByLossOf(lost)))
                        .isInstanceOfSatisfying(
                                LockLostException.class,
                                ex -> assertThat(ex.key()).isEqualTo(lost))
                        .hasNoSuppressedExceptions()
                        .hasCauseInstanceOf(InterruptedException.class);
            }
        });
    }

    @Test
    void an_interrupt_that_was_there_before_the_loss_stays_an_interrupt() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Jobs.class).interrupted(() -> {
                            Thread.currentThread().interrupt();
                            return waitUntilInterruptedByLossOf("job");
                        }))
                .isInstanceOf(InterruptedException.class)
                .satisfies(ex -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class)));
    }

    @Test
    void the_thread_of_a_body_that_is_only_to_be_notified_is_left_alone() {
        runner.run(context -> {
            AtomicBoolean interrupted = new AtomicBoolean();
            CountDownLatch informed = new CountDownLatch(1);

            assertThatThrownBy(() -> context.getBean(Jobs.class).notified(() -> {
                        LockHandle lock = LockHandle.current().orElseThrow();
                        lock.onLost(informed::countDown);
                        lose("job");
                        interrupted.set(Thread.currentThread().isInterrupted());
                        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
                        assertThat(informed.await(10, TimeUnit.SECONDS)).isTrue();
                        return "done";
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(interrupted).isFalse();
        });
    }

    @Test
    void the_exception_of_the_body_wins_over_the_loss() {
        runner.run(context -> {
            IOException failure = new IOException("disk full");

            assertThatThrownBy(() -> context.getBean(Jobs.class).interrupted(() -> {
                        lose("job");
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
        });
    }

    @Test
    void a_loss_is_not_taken_for_contention() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Jobs.class).skipping(() -> {
                            lose("job");
                            return "done";
                        }))
                .isInstanceOf(LockLostException.class));
    }

    @Test
    void a_loss_that_only_the_release_finds_out_about_is_reported() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Jobs.class).interrupted(() -> {
                            application.store.expire("job");
                            return "done";
                        }))
                .isInstanceOf(LockLostException.class));
    }

    @Test
    void an_interrupt_that_is_not_ours_is_left_to_the_caller() {
        runner.run(context -> {
            String result = context.getBean(Jobs.class).interrupted(() -> {
                Thread.currentThread().interrupt();
                return "done";
            });

            assertThat(result).isEqualTo("done");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(application.isTaken("job")).isFalse();
        });
    }

    @Test
    void the_loss_of_one_of_several_locks_is_reported_and_the_others_are_freed() {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(Jobs.class).all(List.of("a", "b"), () -> {
                        lose("a");
                        return "done";
                    }))
                    .isInstanceOfSatisfying(
                            LockLostException.class, ex -> assertThat(ex.key()).isEqualTo("a"));
            assertThat(application.isTaken("b")).isFalse();
        });
    }

    @Test
    void a_body_does_not_begin_when_the_first_of_its_locks_was_lost_while_it_waited_for_the_second() {
        runner.run(context -> {
            LockHandle other = application.takenBySomebodyElse("b");
            AtomicBoolean began = new AtomicBoolean();
            CompletableFuture<Void> call = CompletableFuture.runAsync(
                    () -> context.getBean(Jobs.class).patient(List.of("a", "b"), () -> began.set(true)));
            await().atMost(Duration.ofSeconds(10)).until(() -> application.isTaken("a"));

            application.store.expire("a");
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> !context.getBean(Losses.class).keys.isEmpty());
            other.release();

            assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS)).cause().isInstanceOf(LockLostException.class);
            assertThat(began).isFalse();
        });
    }

    private String waitUntilInterruptedByLossOf(String key) throws InterruptedException {
        lose(key);
        new CountDownLatch(1).await(10, TimeUnit.SECONDS);
        return "not interrupted";
    }

    private void lose(String key) {
        application.store.expire(key);
        assertThat(LockHandle.current(key).orElseThrow().extend(Duration.ofSeconds(1)))
                .isFalse();
    }

    static class Jobs {

        @DistributedLock(name = "job")
        public <T> T interrupted(Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLock(name = "job", onLost = OnLost.NOTIFY)
        public <T> T notified(Callable<T> body) throws Exception {
            return body.call();
        }

        @OfJob
        public <T> T composed(Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLock(name = "job")
        public Object undeclared(Callable<?> body) throws Exception {
            return body.call();
        }

        @DistributedLock(name = "short", ttl = "300ms")
        public <T> T shortLived(Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLock(name = "job", onContention = OnContention.SKIP)
        public <T> T skipping(Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLock(key = "#keys")
        public <T> T all(List<String> keys, Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLock(key = "#keys", ttl = "300ms", waitTime = "1h", onLost = OnLost.NOTIFY)
        public void patient(List<String> keys, Runnable body) {
            body.run();
        }
    }

    @DistributedLock(name = "job")
    @Retention(RetentionPolicy.RUNTIME)
    @interface OfJob {}

    static class Losses implements LockListener {

        private final List<String> keys = new CopyOnWriteArrayList<>();

        @Override
        public void lost(LockEvent event) {
            keys.add(event.key());
        }
    }
}
