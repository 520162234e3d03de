package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/**
 * An annotated method that runs on another thread: that thread acquires the lock, and releases it when the method ends.
 */
@Timeout(60)
class DistributedLockAsyncTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(AsyncMethods.class, Mails.class);

    @Test
    void the_lock_is_taken_on_the_thread_of_the_body() {
        runner.run(context -> {
            CompletableFuture<Thread> ran = new CompletableFuture<>();

            context.getBean(Mails.class).send(() -> {
                assertThat(LockHandle.current("mail")).isPresent();
                ran.complete(Thread.currentThread());
            });

            assertThat(ran).succeedsWithin(LIMIT).isNotSameAs(Thread.currentThread());
        });
    }

    @BugOf("alturkovic: the lock ends before the body of an asynchronous method does")
    @Test
    void the_lock_is_held_to_the_end_of_the_body() {
        runner.run(context -> {
            CountDownLatch end = new CountDownLatch(1);

            context.getBean(Mails.class).send(() -> awaitUninterrupted(end));

            await().atMost(LIMIT).until(() -> application.isTaken("mail"));
            end.countDown();
            await().atMost(LIMIT).until(() -> !application.isTaken("mail"));
        });
    }

    @Test
    void the_lock_is_held_until_the_future_is_done_and_free_when_the_caller_sees_it() {
        runner.run(context -> {
            CompletableFuture<String> source = new CompletableFuture<>();
            CompletableFuture<String> result = context.getBean(Mails.class).future(source);
            await().atMost(LIMIT).until(() -> application.isTaken("mail"));

            source.complete("done");

            assertThat(result).succeedsWithin(LIMIT).isEqualTo("done");
            assertThat(application.isTaken("mail")).isFalse();
        });
    }

    @Test
    void a_caller_that_does_not_get_the_lock_sees_it_in_the_future() {
        runner.run(context -> {
            application.takenBySomebodyElse("mail");

            CompletableFuture<String> result =
                    context.getBean(Mails.class).future(CompletableFuture.completedFuture("done"));

            assertThatThrownBy(() -> result.get(10, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(LockNotAcquiredException.class);
        });
    }

    @Test
    void a_skipped_call_is_a_future_with_nothing_in_it() {
        runner.run(context -> {
            application.takenBySomebodyElse("mail");

            CompletableFuture<Optional<String>> result =
                    context.getBean(Mails.class).skipping();

            assertThat(result).succeedsWithin(LIMIT).isEqualTo(Optional.empty());
        });
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncMethods {}

    static class Mails {

        @Async
        @DistributedLock(name = "mail")
        public void send(Runnable body) {
            body.run();
        }

        @Async
        @DistributedLock(name = "mail")
        public CompletableFuture<String> future(CompletableFuture<String> source) {
            return source;
        }

        @Async
        @DistributedLock(name = "mail", onContention = OnContention.SKIP)
        public CompletableFuture<Optional<String>> skipping() {
            return CompletableFuture.completedFuture(Optional.of("done"));
        }
    }
}
