package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;

/** What stops does not wait for callers that wait for a lock. Spring gives each component up to 30 seconds. */
@Timeout(60)
class WaiterLifecycleTests {

    private static final Executor IN_A_THREAD = task -> new Thread(task, "closing").start();

    private static final LockRequest ORDER = LockRequest.of("order").waitTime(Duration.ofSeconds(40));

    private final InMemoryStore store = new InMemoryStore();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(
                    SyncGuardAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    TaskSchedulingAutoConfiguration.class))
            .withUserConfiguration(Scheduling.class)
            .withBean(LockBackend.class, () -> new InMemoryLockBackend(store));

    private final LockEngine elsewhere = new LockEngine(
            new InMemoryLockBackend(store), DefaultSettings.of("elsewhere"), TransactionBoundary.NONE, List.of());

    private final LockHandle other = elsewhere.acquire(ORDER);

    private final CompletableFuture<Boolean> granted = new CompletableFuture<>();

    enum End {
        CLOSE(ConfigurableApplicationContext::close),
        STOP(ConfigurableApplicationContext::stop),
        PAUSE(ConfigurableApplicationContext::pause);

        private final Consumer<ConfigurableApplicationContext> end;

        End(Consumer<ConfigurableApplicationContext> end) {
            this.end = end;
        }
    }

    @AfterEach
    void close() {
        other.release();
        elsewhere.close();
    }

    @ParameterizedTest
    @EnumSource
    void a_task_of_an_executor_that_waits_is_aborted(End end) {
        assertAborted(
                end,
                (application, task) -> application
                        .getBean("applicationTaskExecutor", Executor.class)
                        .execute(task));
    }

    @ParameterizedTest
    @EnumSource
    void a_task_of_the_scheduler_that_waits_is_aborted(End end) {
        assertAborted(
                end,
                (application, task) -> application.getBean(TaskScheduler.class).schedule(task, Instant.EPOCH));
    }

    @Test
    void a_task_waits_on_for_its_second_lock() {
        runner.run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            execute(application, () -> locks.execute("first", first -> isGranted(application)));
            CompletableFuture<Void> closing =
                    CompletableFuture.runAsync(application.getSourceApplicationContext()::close, IN_A_THREAD);
            await().during(Duration.ofMillis(500)).until(() -> !granted.isDone() && !closing.isDone());
            other.release();

            assertThat(granted).succeedsWithin(Duration.ofSeconds(5)).isEqualTo(true);
            assertThat(closing).succeedsWithin(Duration.ofSeconds(5));
        });
    }

    @Test
    void an_event_listener_for_the_end_may_wait() {
        runner.withBean(Farewell.class).run(application -> {
            Farewell farewell = application.getBean(Farewell.class);
            CompletableFuture<Void> closing =
                    CompletableFuture.runAsync(application.getSourceApplicationContext()::close, IN_A_THREAD);
            await().during(Duration.ofMillis(500)).until(() -> !closing.isDone());
            other.release();

            assertThat(closing).succeedsWithin(Duration.ofSeconds(5));
            assertThat(farewell.locked).isTrue();
        });
    }

    @Test
    void a_child_context_that_closes_aborts_nobody() {
        runner.run(application -> {
            AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
            child.setParent(application.getSourceApplicationContext());
            child.refresh();
            execute(application, () -> isGranted(application));
            child.close();
            await().during(Duration.ofMillis(500)).until(() -> !granted.isDone());
            other.release();

            assertThat(granted).succeedsWithin(Duration.ofSeconds(5)).isEqualTo(true);
        });
    }

    @Test
    void a_task_of_a_child_context_is_aborted_when_the_parent_closes() {
        ConfigurableApplicationContext child = new SpringApplicationBuilder(Parent.class)
                .web(WebApplicationType.NONE)
                .initializers(
                        parent -> parent.getBeanFactory().registerSingleton("store", new InMemoryLockBackend(store)))
                .child(Child.class)
                .web(WebApplicationType.NONE)
                .run();
        ConfigurableApplicationContext parent = (ConfigurableApplicationContext) child.getParent();
        execute(child, () -> isGranted(child));

        assertThat(CompletableFuture.runAsync(parent::close, IN_A_THREAD)).succeedsWithin(Duration.ofSeconds(5));

        assertAborted();
    }

    private void assertAborted(End end, BiConsumer<ConfigurableApplicationContext, Runnable> submission) {
        runner.run(application -> {
            submission.accept(
                    application.getSourceApplicationContext(),
                    () -> granted.completeAsync(() -> isGranted(application), Runnable::run));
            awaitWaiter();

            assertThat(CompletableFuture.runAsync(
                            () -> end.end.accept(application.getSourceApplicationContext()), IN_A_THREAD))
                    .succeedsWithin(Duration.ofSeconds(5));

            assertAborted();
        });
    }

    private void assertAborted() {
        assertThat(catchThrowable(granted::join))
                .rootCause()
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED))
                .hasMessageContainingAll("'order'", "shutting down");
    }

    private void execute(ConfigurableApplicationContext application, Supplier<Boolean> task) {
        application
                .getBean("applicationTaskExecutor", Executor.class)
                .execute(() -> granted.completeAsync(task, Runnable::run));
        awaitWaiter();
    }

    private void awaitWaiter() {
        await().atMost(Duration.ofSeconds(5)).until(() -> store.queue("order").size() == 1);
    }

    private static boolean isGranted(ConfigurableApplicationContext application) {
        return application.getBean(LockManager.class).acquire(ORDER).release();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(SyncGuardAutoConfiguration.class)
    static class Parent {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(TaskExecutionAutoConfiguration.class)
    static class Child {}

    static class Farewell {

        private final LockManager locks;
        private volatile boolean locked;

        Farewell(LockManager locks) {
            this.locks = locks;
        }

        @EventListener(ContextClosedEvent.class)
        void lock() {
            locked = locks.acquire(ORDER).release();
        }
    }
}
