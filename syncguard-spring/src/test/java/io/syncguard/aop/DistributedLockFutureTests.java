package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockNotAcquiredException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
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
}
