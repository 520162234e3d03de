package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** What docs/advanced.md says about work on other threads. */
@Timeout(60)
class AsyncSampleTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final RecipeInstances instances =
            new RecipeInstances(Shop.class, "SELECT 1", "syncguard.locks.invoice.wait-time=1s");

    @Test
    void a_returned_future_keeps_the_lock_and_a_nested_call_of_bound_work_joins_it() {
        instances.run((one, two) -> {
            Archive archive = one.getBean(Archive.class);
            CompletableFuture<Receipt> sent = one.getBean(Invoices.class).send("7");

            archive.awaitBegin();
            assertThat(isLocked(two)).isTrue();
            archive.end();

            assertThat(sent).succeedsWithin(LIMIT).isEqualTo(new Receipt("7"));
            assertThat(isLocked(two)).isFalse();
        });
    }

    @Test
    void without_bind_a_nested_call_is_refused_while_its_caller_keeps_the_lock() {
        instances.run((one, two) -> assertThat(one.getBean(Invoices.class).sendUnbound("7"))
                .failsWithin(LIMIT)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(LockNotAcquiredException.class));
    }

    @Test
    void bind_around_an_asynchronous_call_does_not_bind_the_method() {
        instances.run((one, two) -> assertThat(one.getBean(Invoices.class).sendAsync("7"))
                .failsWithin(LIMIT)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(LockNotAcquiredException.class));
    }

    @Test
    void a_void_method_ends_its_lock_and_a_nested_call_of_its_work_gets_the_next_one() {
        instances.run((one, two) -> {
            Archive archive = one.getBean(Archive.class);
            CompletableFuture<LockHandle> outer = new CompletableFuture<>();
            one.getBean(Invoices.class).forget("7", outer);

            archive.awaitBegin();
            assertThat(outer.join().state()).isEqualTo(LockHandle.State.RELEASED);
            assertThat(isLocked(two)).isTrue();
            archive.end();
            await().until(() -> !isLocked(two));
        });
    }

    @Test
    void bound_work_does_not_keep_the_lock_of_a_void_method_and_a_nested_call_takes_its_own() {
        instances.run((one, two) -> {
            Archive archive = one.getBean(Archive.class);
            CountDownLatch returned = new CountDownLatch(1);
            one.getBean(Invoices.class).forgetBound("7", returned);

            assertThat(isLocked(two)).isFalse();
            returned.countDown();
            archive.awaitBegin();
            assertThat(isLocked(two)).isTrue();
            archive.end();
            await().until(() -> !isLocked(two));
        });
    }

    private static boolean isLocked(ApplicationContext instance) {
        return instance.getBean(LockManager.class).isLocked("invoice:7");
    }

    record Receipt(String id) {}

    static class Invoices {

        private final AsyncTaskExecutor executor;
        private final Archive archive;

        Invoices(AsyncTaskExecutor executor, Archive archive) {
            this.executor = executor;
            this.archive = archive;
        }

        // sample: async
        @DistributedLock(name = "invoice", key = "#id")
        public CompletableFuture<Receipt> send(String id) {
            LockHandle lock = LockHandle.current().orElseThrow();
            return executor.submitCompletable(lock.bind(() -> archive.file(id))); // locked until this ends
        }
        // end

        @DistributedLock(name = "invoice", key = "#id")
        public CompletableFuture<Receipt> sendUnbound(String id) {
            return executor.submitCompletable(() -> archive.file(id));
        }

        @DistributedLock(name = "invoice", key = "#id")
        public CompletableFuture<Receipt> sendAsync(String id) throws Exception {
            LockHandle lock = LockHandle.current().orElseThrow();
            return lock.bind(() -> archive.fileAsync(id)).call();
        }

        @DistributedLock(name = "invoice", key = "#id")
        public void forget(String id, CompletableFuture<LockHandle> lock) {
            lock.complete(LockHandle.current().orElseThrow());
            executor.submit(() -> archive.file(id));
        }

        /** Waits until the work has begun, and lets it go on after the return. */
        @DistributedLock(name = "invoice", key = "#id")
        public void forgetBound(String id, CountDownLatch returned) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(1);
            LockHandle lock = LockHandle.current().orElseThrow();
            executor.submit(lock.bind(() -> {
                begun.countDown();
                returned.await();
                return archive.file(id);
            }));
            begun.await();
        }
    }

    static class Archive {

        private final Semaphore begun = new Semaphore(0);
        private final CountDownLatch ended = new CountDownLatch(1);

        @DistributedLock(name = "invoice", key = "#id")
        public Receipt file(String id) throws InterruptedException {
            begun.release();
            ended.await();
            return new Receipt(id);
        }

        @Async
        @DistributedLock(name = "invoice", key = "#id")
        public CompletableFuture<Receipt> fileAsync(String id) {
            return CompletableFuture.completedFuture(new Receipt(id));
        }

        void awaitBegin() throws InterruptedException {
            assertThat(begun.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
        }

        void end() {
            ended.countDown();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @Import({Invoices.class, Archive.class})
    static class Shop {

        @Bean
        AsyncTaskExecutor executor() {
            return new SimpleAsyncTaskExecutor("invoices-");
        }
    }
}
