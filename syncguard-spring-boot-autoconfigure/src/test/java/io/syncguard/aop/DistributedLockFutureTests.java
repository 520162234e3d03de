package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import io.syncguard.OnLost;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
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
 * A method that returns a future keeps its lock until that is done.
 */
@Timeout(60)
class DistributedLockFutureTests {

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
    void the_lock_is_held_until_a_completable_future_is_done() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).future(source);

            assertThat(result).isNotDone();
            assertThat(application.isTaken("import")).isTrue();

            source.complete("done");

            assertThat(result).succeedsWithin(LIMIT).isEqualTo("done");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void the_lock_is_held_until_a_completion_stage_is_done() {
        runner.run(context -> {
            CompletionStage<@Nullable String> result =
                    context.getBean(Imports.class).stage(source.minimalCompletionStage());

            assertThat(application.isTaken("import")).isTrue();

            source.complete("done");

            assertThat(result).succeedsWithin(LIMIT).isEqualTo("done");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void the_lock_is_held_until_the_future_of_an_executor_is_done() {
        runner.run(context -> {
            CountDownLatch end = new CountDownLatch(1);
            Future<@Nullable String> result = context.getBean(Imports.class).plain(executor.submit(() -> {
                end.await();
                return "done";
            }));

            assertThat(result.isDone()).isFalse();
            assertThat(application.isTaken("import")).isTrue();

            end.countDown();

            assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void the_lock_is_held_until_the_end_of_a_future_that_is_not_declared() {
        runner.run(context -> {
            Object result = context.getBean(Imports.class).undeclared(source);

            assertThat(application.isTaken("import")).isTrue();

            source.complete("done");

            assertThat((Future<?>) result).succeedsWithin(LIMIT).isEqualTo("done");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void the_lock_is_held_until_the_end_of_a_future_behind_a_type_variable() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).generic(source);

            assertThat(application.isTaken("import")).isTrue();

            source.complete("done");

            assertThat(result).succeedsWithin(LIMIT);
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void the_lock_of_a_method_without_a_declared_type_is_free_after_a_result_that_is_no_future() {
        runner.run(context -> {
            assertThat(context.getBean(Imports.class).undeclared("done")).isEqualTo("done");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void a_future_that_is_done_already_ends_the_lock_before_the_return() {
        runner.run(context -> {
            source.complete("done");

            assertThat(context.getBean(Imports.class).future(source)).isCompletedWithValue("done");
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void a_method_that_returns_no_future_after_all_ends_its_lock() {
        runner.run(context -> {
            assertThat(context.getBean(Imports.class).none()).isNull();
            assertThat(application.isTaken("import")).isFalse();
        });
    }

    @Test
    void whoever_sees_the_result_finds_the_key_free() {
        runner.run(context -> {
            CompletableFuture<Boolean> taken =
                    context.getBean(Imports.class).future(source).thenApply(value -> application.isTaken("import"));

            source.complete("done");

            assertThat(taken).succeedsWithin(LIMIT).isEqualTo(false);
        });
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
    void all_keys_are_held_until_the_future_is_done() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).all(List.of("b", "a"), source);

            assertThat(application.isTaken("import:a")).isTrue();
            assertThat(application.isTaken("import:b")).isTrue();

            source.complete("done");

            assertThat(result).succeedsWithin(LIMIT).isEqualTo("done");
            assertThat(application.isTaken("import:a")).isFalse();
            assertThat(application.isTaken("import:b")).isFalse();
        });
    }

    @Test
    void a_cancelled_future_with_several_keys_cancels_the_one_of_the_body_and_frees_them_all() {
        runner.run(context -> {
            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).all(List.of("b", "a"), source);

            result.cancel(true);

            assertThat(source).isCancelled();
            await().atMost(LIMIT).until(() -> !application.isTaken("import:a") && !application.isTaken("import:b"));
        });
    }

    @Test
    void a_method_that_cannot_have_its_lock_throws_instead_of_returning_a_future() {
        runner.run(context -> {
            application.takenBySomebodyElse("import");

            assertThatThrownBy(() -> context.getBean(Imports.class).future(source))
                    .isInstanceOf(LockNotAcquiredException.class);
        });
    }

    @Test
    void a_skipped_call_with_several_keys_returns_a_finished_future_and_frees_the_first() {
        runner.run(context -> {
            application.takenBySomebodyElse("import:b");

            CompletableFuture<@Nullable String> result =
                    context.getBean(Imports.class).all(List.of("a", "b"), source);

            assertThat(result).isCompletedWithValue(null);
            assertThat(application.isTaken("import:a")).isFalse();
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

            CountDownLatch told = new CountDownLatch(1);
            imports.handle().onLost(told::countDown);
            lose(imports.handle(), "import");
            assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
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

    static class Imports {

        private @Nullable LockHandle handle;

        @DistributedLock(name = "import")
        public CompletableFuture<@Nullable String> future(CompletableFuture<@Nullable String> source) {
            handle = LockHandle.current().orElseThrow();
            return source;
        }

        @DistributedLock(name = "import")
        public CompletionStage<@Nullable String> stage(CompletionStage<@Nullable String> source) {
            return source;
        }

        @DistributedLock(name = "import")
        public Future<@Nullable String> plain(Future<@Nullable String> source) {
            handle = LockHandle.current().orElseThrow();
            return source;
        }

        @DistributedLock(name = "import")
        public Object undeclared(Object source) {
            return source;
        }

        @DistributedLock(name = "import")
        public <T> T generic(T source) {
            return source;
        }

        @DistributedLock(name = "import")
        public @Nullable CompletableFuture<String> none() {
            return null;
        }

        @DistributedLock(name = "import")
        public CompletableFuture<String> failing() throws IOException {
            throw new IOException("before the future");
        }

        @DistributedLock(name = "import", key = "#ids", onContention = OnContention.SKIP)
        public CompletableFuture<@Nullable String> all(List<String> ids, CompletableFuture<@Nullable String> source) {
            return source;
        }

        @DistributedLock(name = "short", ttl = "300ms")
        public CompletableFuture<@Nullable String> shortLived(CompletableFuture<@Nullable String> source) {
            return source;
        }

        @DistributedLock(name = "import", onLost = OnLost.NOTIFY)
        public CompletableFuture<@Nullable String> notified(CompletableFuture<@Nullable String> source) {
            handle = LockHandle.current().orElseThrow();
            return source;
        }

        LockHandle handle() {
            if (handle == null) {
                throw new AssertionError("No body has run");
            }
            return handle;
        }
    }
}
