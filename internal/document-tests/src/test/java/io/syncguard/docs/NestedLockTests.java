package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;

/** What docs/guide.md says about locks inside locks, in two instances. */
@Timeout(60)
class NestedLockTests {

    private static final LockRequest ORDER = LockRequest.of("order", "42").waitTime(Duration.ofSeconds(50));
    private static final LockRequest CUSTOMER = LockRequest.of("customer", "7").waitTime(Duration.ofSeconds(50));
    private static final Duration SHORT = Duration.ofMillis(500);

    private final RecipeInstances instances = new RecipeInstances(Shop.class, "SELECT 1");

    @Test
    void in_opposite_orders_two_callers_wait_until_the_wait_time_of_one_is_over() {
        instances.run((one, two) -> {
            CyclicBarrier outer = new CyclicBarrier(2);
            FutureTask<?> patient = start(() -> nest(two, ORDER, CUSTOMER, outer));

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> nest(one, CUSTOMER, ORDER.waitTime(SHORT), outer))
                    .matches(LockNotAcquiredException::isInsideBody)
                    .satisfies(refusal -> assertThat(refusal.waited()).isGreaterThanOrEqualTo(SHORT));
            patient.get(20, TimeUnit.SECONDS);
        });
    }

    @Test
    void a_caller_that_still_nests_against_the_sorted_order_waits_for_a_call_over_both_keys() {
        instances.run((one, two) -> {
            LockTemplate nested = two.getBean(LockTemplate.class);
            nested.executeWithoutResult(ORDER, order -> {
                FutureTask<?> both = start(() ->
                        one.getBean(LockTemplate.class).executeWithoutResult(List.of(ORDER, CUSTOMER), held -> {}));
                await().until(() -> one.getBean(LockManager.class).isLocked(CUSTOMER.key()));
                assertThatExceptionOfType(LockNotAcquiredException.class)
                        .isThrownBy(() -> nested.executeWithoutResult(CUSTOMER.waitTime(SHORT), customer -> {}));
                assertThat(both).isNotDone();
            });
        });
    }

    private static void nest(ApplicationContext instance, LockRequest first, LockRequest second, CyclicBarrier outer) {
        LockTemplate locks = instance.getBean(LockTemplate.class);
        locks.executeWithoutResult(first, lock -> {
            meet(outer);
            locks.executeWithoutResult(second, inner -> {});
        });
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static FutureTask<?> start(Runnable work) {
        FutureTask<?> task = new FutureTask<>(work, null);
        new Thread(task).start();
        return task;
    }

    @Configuration(proxyBeanMethods = false)
    static class Shop {}
}
