package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.PostgresServer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Many reactive callers of one key, on a real server. */
@Timeout(180)
class ReactiveCallersTests {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int CALLERS = 3000;
    private static final int MAX_WAITING = 256;
    private static final String URL = PostgresServer.newDatabaseUrl();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    @Test
    void three_thousand_callers_of_one_key_wait_on_a_limited_number_of_threads() {
        // A loaded machine needs longer for the first attempts of all callers.
        ApplicationContextRunner patient = Applications.on(URL)
                .withBean(Orders.class)
                .withPropertyValues("syncguard.postgres.network-timeout=60s", "syncguard.ttl=5m");
        patient.run(context -> {
            Orders orders = context.getBean(Orders.class);
            LockManager locks = context.getBean(LockManager.class);
            LockHandle holder = locks.acquire(LockRequest.of("order:42"));
            int before = THREADS.getThreadCount();

            List<CompletableFuture<String>> results = subscribe(orders);

            List<CompletableFuture<String>> refused =
                    results.stream().filter(CompletableFuture::isDone).toList();
            assertThat(refused).as("at once").hasSize(CALLERS - MAX_WAITING);
            assertThat(refused)
                    .allSatisfy(each -> assertThat(each)
                            .failsWithin(Duration.ZERO)
                            .withThrowableThat()
                            .havingCause()
                            .isInstanceOfSatisfying(
                                    LockException.class,
                                    ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.RATE_LIMITED))
                            .withMessageContaining("syncguard.reactive.max-waiting"));
            await().atMost(LIMIT)
                    .until(() -> locks.admin().status("order:42").orElseThrow().waiters() == MAX_WAITING);
            assertThat(THREADS.getThreadCount() - before).isLessThan(MAX_WAITING + 64);

            holder.release();
            assertThat(results)
                    .filteredOn(each -> !refused.contains(each))
                    .hasSize(MAX_WAITING)
                    .allSatisfy(each -> assertThat(each).succeedsWithin(LIMIT));
            assertThat(orders.place("42").block(LIMIT)).isEqualTo("placed 42");
        });
    }

    @Test
    void cancelled_callers_leave_the_queue_and_their_places() {
        Applications.on(URL)
                .withBean(Orders.class)
                .withPropertyValues("syncguard.reactive.max-waiting=20")
                .run(context -> {
                    ReactiveLockTemplate reactive = context.getBean(ReactiveLockTemplate.class);
                    LockManager locks = context.getBean(LockManager.class);
                    Mono<String> waiting =
                            reactive.mono(LockRequest.of("order:43").waitTime(LIMIT), lock -> Mono.just("done"));
                    LockHandle holder = locks.acquire(LockRequest.of("order:43"));
                    List<Disposable> subscriptions = IntStream.range(0, 20)
                            .mapToObj(i -> waiting.subscribe())
                            .toList();
                    await().atMost(LIMIT)
                            .until(() -> locks.admin()
                                            .status("order:43")
                                            .orElseThrow()
                                            .waiters()
                                    == 20);
                    assertThat(waiting.toFuture()).isCompletedExceptionally();

                    subscriptions.forEach(Disposable::dispose);
                    await().atMost(LIMIT)
                            .until(() -> locks.admin()
                                            .status("order:43")
                                            .orElseThrow()
                                            .waiters()
                                    == 0);
                    CompletableFuture<String> next = waiting.toFuture();
                    await().atMost(LIMIT)
                            .until(() -> locks.admin()
                                            .status("order:43")
                                            .orElseThrow()
                                            .waiters()
                                    == 1);
                    holder.release();

                    assertThat(next).succeedsWithin(LIMIT).isEqualTo("done");
                });
    }

    /** Subscribes on a thread that must not block, as an event loop does. */
    private static List<CompletableFuture<String>> subscribe(Orders orders) {
        return Mono.fromCallable(() -> IntStream.range(0, CALLERS)
                        .mapToObj(i -> orders.place("42").toFuture())
                        .toList())
                .subscribeOn(Schedulers.parallel())
                .block(LIMIT);
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#id", waitTime = "60s")
        public Mono<String> place(String id) {
            return Mono.just("placed " + id);
        }
    }
}
