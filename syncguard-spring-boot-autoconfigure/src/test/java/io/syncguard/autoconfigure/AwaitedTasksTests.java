package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** A task that Spring lets finish at the end of an application gets the locks that it needs. */
@Timeout(60)
class AwaitedTasksTests {

    private static final Executor IN_A_THREAD = task -> new Thread(task, "closing").start();

    private final InMemoryStore store = new InMemoryStore();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(
                    SyncGuardAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class))
            .withBean(LockBackend.class, () -> new InMemoryLockBackend(store))
            .withBean(AllStopped.class)
            .withPropertyValues(
                    "syncguard.shutdown-timeout=30s",
                    "spring.task.execution.shutdown.await-termination=true",
                    "spring.task.execution.shutdown.await-termination-period=30s",
                    "spring.task.scheduling.shutdown.await-termination=true",
                    "spring.task.scheduling.shutdown.await-termination-period=30s");

    private final CountDownLatch taskRuns = new CountDownLatch(1);
    private final CompletableFuture<String> result = new CompletableFuture<>();

    @Test
    void a_task_of_the_executor_gets_a_lock_when_everything_has_stopped() {
        assertGranted(
                runner,
                (context, task) -> executor(context, "applicationTaskExecutor").execute(task));
    }

    @Test
    void a_task_of_the_scheduler_gets_a_lock_when_everything_has_stopped() {
        assertGranted(
                runner.withUserConfiguration(Scheduling.class),
                (context, task) -> context.getBean(TaskScheduler.class).schedule(task, Instant.EPOCH));
    }

    @ParameterizedTest
    @ValueSource(classes = {Unpooled.class, Accepting.class, Plain.class})
    void a_task_of_another_executor_gets_a_lock_when_everything_has_stopped(Class<?> configuration) {
        assertGranted(
                runner.withUserConfiguration(configuration),
                (context, task) -> executor(context, "jobs").execute(task));
    }

    @Test
    void a_task_that_waits_in_the_queue_gets_a_lock_too() {
        assertGranted(
                runner.withPropertyValues(
                        "spring.task.execution.pool.core-size=1", "spring.task.execution.pool.max-size=1"),
                (context, task) -> {
                    Executor executor = executor(context, "applicationTaskExecutor");
                    AllStopped stopped = context.getBean(AllStopped.class);
                    executor.execute(() -> {
                        taskRuns.countDown();
                        stopped.await();
                    });
                    executor.execute(task);
                });
    }

    @Test
    void no_lock_is_granted_after_the_shutdown_timeout_and_the_message_names_it() {
        Throwable refusal = catchThrowable(() -> lockOfTask(
                runner.withPropertyValues("syncguard.shutdown-timeout=0s"),
                (context, task) -> executor(context, "applicationTaskExecutor").execute(task)));

        assertThat(refusal)
                .rootCause()
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED))
                .hasMessageContainingAll("'late'", "shutting down", "syncguard.shutdown-timeout");
    }

    @Test
    void a_lock_that_a_task_holds_is_held_until_the_task_ends() {
        runner.withPropertyValues("syncguard.shutdown-timeout=1ms").run(context -> {
            AllStopped stopped = context.getBean(AllStopped.class);
            LockTemplate locks = context.getBean(LockTemplate.class);
            executor(context, "applicationTaskExecutor")
                    .execute(() -> locks.executeWithoutResult("long", lock -> {
                        taskRuns.countDown();
                        stopped.await();
                        result.complete("held: " + lock.isHeld());
                    }));
            close(context);

            assertThat(result).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("held: true");
        });
    }

    @Test
    void an_executor_that_the_store_needs_ends_after_the_release_of_the_locks() {
        List<Boolean> executorRuns = new CopyOnWriteArrayList<>();
        new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(SyncGuardAutoConfiguration.class))
                .withUserConfiguration(Accepting.class, OnExecutor.class)
                .withPropertyValues("syncguard.shutdown-timeout=1ms")
                .run(context -> {
                    ThreadPoolTaskExecutor jobs = context.getBean(ThreadPoolTaskExecutor.class);
                    context.getBean(InterceptedBackend.class).beforeRelease =
                            () -> executorRuns.add(!jobs.getThreadPoolExecutor().isShutdown());
                    context.getBean(LockManager.class).acquire(LockRequest.of("held"));
                });

        assertThat(executorRuns).isNotEmpty().doesNotContain(false);
    }

    @Test
    void a_context_that_only_stops_grants_no_lock_to_anybody_and_grants_again_after_its_start() {
        runner.run(context -> {
            executor(context, "applicationTaskExecutor").execute(taskRuns::countDown);
            LockTemplate locks = context.getBean(LockTemplate.class);
            context.stop();
            assertThat(catchThrowable(() -> locks.execute("late", lock -> lock.key())))
                    .hasMessageContaining("shutting down");

            context.start();

            assertThat(locks.<String, RuntimeException>execute("late", lock -> lock.key()))
                    .isEqualTo("late");
        });
    }

    private void assertGranted(
            ApplicationContextRunner application, BiConsumer<ConfigurableApplicationContext, Runnable> submission) {
        assertThat(lockOfTask(application, submission)).isEqualTo("late");
    }

    /** Closes the application while a task runs, which then takes a lock. */
    private String lockOfTask(
            ApplicationContextRunner application, BiConsumer<ConfigurableApplicationContext, Runnable> submission) {
        application.run(context -> {
            AllStopped stopped = context.getBean(AllStopped.class);
            LockTemplate locks = context.getBean(LockTemplate.class);
            submission.accept(context.getSourceApplicationContext(), () -> {
                taskRuns.countDown();
                stopped.await();
                result.completeAsync(
                        () -> locks.<String, RuntimeException>execute("late", lock -> lock.key()), Runnable::run);
            });
            close(context);
        });
        return result.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private void close(ConfigurableApplicationContext context) throws InterruptedException {
        LockEngine engine = context.getBean(LockEngine.class);
        assertThat(taskRuns.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close, IN_A_THREAD);
        assertThat(closing).succeedsWithin(Duration.ofSeconds(20));
        assertThat(engine.isLocked("late")).isFalse();
    }

    private static Executor executor(ConfigurableApplicationContext context, String name) {
        return context.getBean(name, Executor.class);
    }

    /** The last component to stop. After that, Spring destroys the beans. */
    static class AllStopped implements SmartLifecycle {

        private final CountDownLatch stopped = new CountDownLatch(1);
        private volatile boolean running;

        void await() {
            try {
                assertThat(stopped.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            stopped.countDown();
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return Integer.MIN_VALUE;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    /** The executor of applications with virtual threads. */
    @Configuration(proxyBeanMethods = false)
    static class Unpooled {

        @Bean
        SimpleAsyncTaskExecutor jobs() {
            SimpleAsyncTaskExecutor jobs = new SimpleAsyncTaskExecutor("jobs-");
            jobs.setTaskTerminationTimeout(30_000);
            return jobs;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Accepting {

        @Bean
        ThreadPoolTaskExecutor jobs() {
            ThreadPoolTaskExecutor jobs = new ThreadPoolTaskExecutor();
            jobs.setAcceptTasksAfterContextClose(true);
            jobs.setWaitForTasksToCompleteOnShutdown(true);
            jobs.setAwaitTerminationSeconds(30);
            return jobs;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OnExecutor {

        @Bean
        InterceptedBackend backend(ThreadPoolTaskExecutor jobs) {
            return new InterceptedBackend(new InMemoryLockBackend());
        }
    }

    /** Waits when it is destroyed, as each executor service does from Java 19 on. */
    @Configuration(proxyBeanMethods = false)
    static class Plain {

        @Bean(destroyMethod = "")
        ThreadPoolExecutor jobs() {
            return (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
        }

        @Bean
        DisposableBean end(ThreadPoolExecutor jobs) {
            return () -> {
                jobs.shutdown();
                assertThat(jobs.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
            };
        }
    }
}
