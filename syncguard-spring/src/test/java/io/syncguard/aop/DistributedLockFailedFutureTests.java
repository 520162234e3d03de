package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * A future that fails, is cancelled or loses its lock: the effect on the body, on the key and on the future of the
 * caller.
 */
@Timeout(60)
class DistributedLockFailedFutureTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Imports.class);
    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final CompletableFuture<@Nullable String> source = new CompletableFuture<>();

    @AfterEach
    void endTasks() {
        executor.shutdownNow();
    }

    @Test
    void a_future_that_fails_ends_the_lock_and_hands_its_failure_on() {
        runner.run(context -> {
            IOException failure = new IOException("disk full");
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).future(source);

            source.completeExceptionally(failure);

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isSameAs(failure);
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void a_stage_that_fails_hands_on_the_failure_of_the_stage_before() {
        runner.run(context -> {
            IOException failure = new IOException("disk full");
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).future(source.thenApply(value -> value));

            source.completeExceptionally(failure);

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isSameAs(failure);
            assertThatThrownBy(result::join)
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isSameAs(failure);
        });
    }

    @Test
    void a_task_that_fails_ends_the_lock_and_hands_its_failure_on() {
        runner.run(context -> {
            IOException failure = new IOException("disk full");
            Future<@Nullable String> result = context.getBean(Imports.class).plain(executor.submit(() -> {
                throw failure;
            }));

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isSameAs(failure);
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void an_exception_instead_of_a_future_ends_the_lock() {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(Imports.class).failing())
                    .isInstanceOf(IOException.class)
                    .hasMessage("before the future");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void a_cancelled_future_cancels_the_one_of_the_body_and_ends_the_lock() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).future(source);

            assertThat(result.cancel(true)).isTrue();

            assertThat(result).isCancelled();
            assertThat(source).isCancelled();
            await().atMost(LIMIT).until(() -> !application.isTaken("import"));
        });
    }

    @Test
    void a_cancelled_future_interrupts_the_task_of_the_body_and_ends_the_lock() {
        runner.run(context -> {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            Future<@Nullable String> result =
                    context.getBean(Imports.class).plain(executor.submit(() -> untilInterrupted(started, interrupted)));
            assertThat(started.await(10, TimeUnit.SECONDS)).isTrue();

            result.cancel(true);

            assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(result.isCancelled()).isTrue();
            await().atMost(LIMIT).until(() -> !application.isTaken("import"));
        });
    }

    @Test
    void a_body_that_cancels_its_own_future_ends_the_lock() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).future(source);

            source.cancel(true);

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void a_lock_that_is_lost_cancels_the_future_of_the_body_and_fails_the_returned_one() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            CompletableFuture<@Nullable String> result = imports.future(source);

            lose(imports.handle(), "import");

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isInstanceOf(LockLostException.class);
            assertThat(source).isCancelled();
        });
    }

    @Test
    void a_lock_that_is_lost_interrupts_the_task_of_the_body() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            Future<@Nullable String> result =
                    imports.plain(executor.submit(() -> untilInterrupted(started, interrupted)));
            assertThat(started.await(10, TimeUnit.SECONDS)).isTrue();

            lose(imports.handle(), "import");

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isInstanceOf(LockLostException.class);
            assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
        });
    }

    @Test
    void a_task_that_fails_because_the_loss_interrupted_it_fails_the_future_with_the_loss() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            InterruptedException failure = new InterruptedException();
            CompletableFuture<@Nullable String> result = imports.future(new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    return completeExceptionally(new IllegalStateException("interrupted", failure));
                }
            });

            lose(imports.handle(), "import");

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(LockLostException.class)
                    .hasNoSuppressedExceptions()
                    .hasRootCause(failure);
        });
    }

    @Test
    void a_bound_task_that_the_loss_interrupts_reports_it_once() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            CompletableFuture<@Nullable String> result = imports.notified(source);
            LockHandle lock = imports.handle();
            CountDownLatch started = new CountDownLatch(1);
            executor.submit(() -> {
                try {
                    source.complete(lock.bind(() -> {
                                started.countDown();
                                lose(lock, "import");
                                return lock.rotateFence().toString();
                            })
                            .call());
                } catch (Exception ex) {
                    source.completeExceptionally(ex);
                }
            });

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(LockLostException.class)
                    .hasNoSuppressedExceptions();
        });
    }

    @Test
    void the_heartbeat_finds_out_about_a_lost_lock_of_a_future() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).shortLived(source);

            application.store.expire("short");

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isInstanceOf(LockLostException.class);
        });
    }

    @Test
    void a_future_that_is_only_to_be_notified_goes_on_without_its_lock_and_fails_at_its_end() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            CompletableFuture<@Nullable String> result = imports.notified(source);

            CountDownLatch informed = new CountDownLatch(1);
            imports.handle().onLost(informed::countDown);
            lose(imports.handle(), "import");
            assertThat(informed.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(source).isNotDone();
            assertThat(result).isNotDone();
            source.complete("done");

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isInstanceOf(LockLostException.class);
        });
    }

    @Test
    void a_failure_of_the_future_wins_over_the_loss_of_its_lock() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            IOException failure = new IOException("disk full");
            CompletableFuture<@Nullable String> result = imports.notified(source);

            lose(imports.handle(), "import");
            source.completeExceptionally(failure);

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isSameAs(failure);
            assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
        });
    }

    @Test
    void the_loss_is_seen_beneath_the_failure_of_a_stage_before() {
        runner.run(context -> {
            Imports imports = context.getBean(Imports.class);
            IOException failure = new IOException("disk full");
            CompletableFuture<@Nullable String> result = imports.notified(source.thenApply(value -> value));

            lose(imports.handle(), "import");
            source.completeExceptionally(failure);

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS)).cause().isSameAs(failure);
            assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
        });
    }

    @Test
    void a_future_that_ends_after_the_application_still_ends() {
        CompletableFuture<CompletableFuture<@Nullable String>> result = new CompletableFuture<>();
        runner.run(context -> result.complete(context.getBean(Imports.class).notified(source)));

        source.complete("done");

        assertThatThrownBy(() -> result.join().get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(LockLostException.class);
    }

    @Test
    void a_future_that_is_cancelled_by_the_end_of_the_application_ends() {
        CompletableFuture<CompletableFuture<@Nullable String>> result = new CompletableFuture<>();
        runner.run(context -> result.complete(context.getBean(Imports.class).future(source)));

        assertThatThrownBy(() -> result.join().get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(LockLostException.class);
    }

    private static String untilInterrupted(CountDownLatch started, CountDownLatch interrupted) {
        started.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException ex) {
            interrupted.countDown();
        }
        return "interrupted";
    }

    private void lose(LockHandle lock, String key) {
        application.store.expire(key);
        assertThat(lock.extend(Duration.ofSeconds(1))).isFalse();
    }
}
