package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A nested call on another thread joins the lock if it is bound, and else says what to do. */
@FrameworkTest
@Timeout(60)
class NestedCallTests {

    @Autowired
    private Outer outer;

    @Autowired
    private Inner inner;

    @Test
    void a_blocking_method_inside_a_publisher() {
        assertThat(outer.publisher(lock -> lock.bind(inner::reserve)).block()).isEqualTo("joined");
        assertRefused(() -> outer.publisher(lock -> inner::reserve).block());
    }

    @Test
    void a_method_of_an_executor() {
        assertThat(outer.future(lock -> lock.bind(inner::reserve)).join()).isEqualTo("joined");
        assertRefused(() -> outer.future(lock -> inner::reserve).get());
    }

    @Test
    void an_asynchronous_method() {
        assertThat(outer.blocking(
                        lock -> () -> inner.later(lock.bind(inner::reserve)).get()))
                .isEqualTo("joined");
        assertRefused(
                () -> outer.blocking(lock -> () -> inner.later(inner::reserve).get()));
    }

    private static void assertRefused(Callable<String> call) {
        assertThatThrownBy(call::call)
                .satisfies(thrown -> assertThat(NestedExceptionUtils.getMostSpecificCause(thrown))
                        .hasMessageContainingAll("in another thread", "LockHandle.bind"));
    }

    @FunctionalInterface
    interface Work {
        Callable<String> under(LockHandle lock);
    }

    static class Outer {

        @DistributedLock(name = "nested")
        public Mono<String> publisher(Work work) {
            return Mono.deferContextual(context -> Mono.fromCallable(work.under(context.get(LockHandle.class)))
                    .subscribeOn(Schedulers.boundedElastic()));
        }

        @DistributedLock(name = "nested")
        public CompletableFuture<String> future(Work work) {
            Callable<String> task = work.under(LockHandle.current().orElseThrow());
            return CompletableFuture.supplyAsync(() -> called(task));
        }

        @DistributedLock(name = "nested")
        public String blocking(Work work) {
            return called(work.under(LockHandle.current().orElseThrow()));
        }

        private static String called(Callable<String> task) {
            try {
                return task.call();
            } catch (ExecutionException ex) {
                throw new IllegalStateException(ex.getCause());
            } catch (RuntimeException ex) {
                throw ex;
            } catch (Exception ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    static class Inner {

        @DistributedLock(name = "nested", waitTime = "100ms")
        public String reserve() {
            return "joined";
        }

        @Async
        public CompletableFuture<String> later(Callable<String> task) throws Exception {
            return CompletableFuture.completedFuture(task.call());
        }
    }
}
