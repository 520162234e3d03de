package io.syncguard.docs;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockOperations;
import io.syncguard.docs.ShopApplication.ArticleStock;
import io.syncguard.docs.ShopApplication.OrderService;
import io.syncguard.docs.ShopApplication.PaymentGateway;
import io.syncguard.docs.ShopApplication.Scheduler;
import io.syncguard.docs.ShopApplication.StockService;
import io.syncguard.leader.LeaderElection;
import io.syncguard.test.LockTestControl;
import io.syncguard.test.OtherHolder;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** The samples of docs/testing.md, and the test of docs/first-lock.md. */
class TestingSampleTests {

    @Nested
    // sample: test-locks
    @SpringBootTest
    @AutoConfigureTestLocks
    class OrderServiceTests {

        @Autowired
        OrderService orders;

        @Autowired
        LockTestControl locks;

        @Test
        void an_order_is_locked_while_it_is_submitted() {
            assertThatLock("order:42").isAcquiredDuring(() -> orders.submit("42"));
        }
    }
    // end

    @Nested
    // sample: first-lock-test
    @SpringBootTest(properties = "spring.datasource.url=jdbc:h2:mem:stock")
    @AutoConfigureTestLocks
    class ArticleStockTests {

        @Autowired
        ArticleStock stock;

        @Test
        void an_article_is_locked_while_it_is_added() {
            assertThatLock("article:apple").isAcquiredDuring(() -> stock.add("apple"));
        }
    }
    // end

    @Nested
    @SpringBootTest
    @AutoConfigureTestLocks
    class ContentionTests {

        @Autowired
        OrderService orders;

        @Autowired
        LockTestControl locks;

        @MockitoBean
        PaymentGateway payments;

        @Test
        void the_payment_runs_under_the_lock() throws Exception {
            given(payments.charge(any())).will(call -> {
                assertThatLock("order:42").isHeldByCurrentThread();
                return "paid";
            });

            assertThat(orders.submit("42")).isEqualTo("paid");
        }

        @Test
        // sample: test-hold-elsewhere
        void an_order_waits_for_another_instance() {
            OtherHolder other = locks.holdElsewhere("order:42");
            CompletableFuture<String> submitted = CompletableFuture.supplyAsync(() -> submit("42"));
            await().untilAsserted(() -> assertThatLock("order:42").hasWaiters(1));
            assertThat(submitted).isNotDone();
            other.release();

            assertThat(submitted).succeedsWithin(10, SECONDS);
        }
        // end

        @Test
        // sample: test-end-lease
        void an_order_fails_if_its_lock_is_lost() throws Exception {
            given(payments.charge(any())).will(call -> {
                locks.endLease("order:42");
                new CountDownLatch(1).await(10, SECONDS); // is interrupted
                return "paid";
            });

            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> orders.submit("42"));
        }
        // end

        @Test
        // sample: test-refuse
        void a_refused_order_is_reported(@Autowired StockService stock) {
            locks.refuseNextAcquire("stock:pen"); // at once, whatever the wait time
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> stock.reserve("pen"));

            locks.failNextAcquire(LockErrorCode.SERVICE_UNAVAILABLE); // of any key
            assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> stock.reserve("pen"));
        }
        // end

        @Test
        void the_locks_of_two_orders_are_never_held_together() throws Exception {
            orders.submit("42");
            orders.submit("43");

            assertThatLock("order:42").wasAcquired(1).wasNeverHeldTogetherWith("order:43");
        }

        private String submit(String orderId) {
            try {
                return String.valueOf(orders.submit(orderId));
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    /** The database of the application is not there, and the locks do not need it. */
    @Nested
    @SpringBootTest(
            properties = {
                "syncguard.locks.order.wait-time=100ms",
                "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/shop"
            })
    @AutoConfigureTestLocks
    class RefusalTests {

        @Autowired
        OrderService orders;

        @Autowired
        LockTestControl locks;

        @Test
        // sample: test-held-too-long
        void an_order_is_refused_if_another_instance_holds_it_too_long() {
            locks.holdElsewhere("order:42");

            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.submit("42"));
        }
        // end
    }

    @Nested
    @SpringBootTest(properties = "syncguard.leader.elections.scheduler.ttl=30s")
    @AutoConfigureTestLocks
    class SchedulerTests {

        @Autowired
        LockTestControl locks;

        @Autowired
        LeaderElection election;

        @Autowired
        Scheduler scheduler;

        @Test
        // sample: test-leader
        void another_instance_leads() {
            await().until(() -> election.isLeader("scheduler"));
            election.member("scheduler").pause();
            await().untilAsserted(() -> assertThatLock("leader:scheduler").isFree());
            locks.holdElsewhere("leader:scheduler");
            election.member("scheduler").resume();

            assertThat(scheduler.runs()).isFalse();
        }
        // end
    }

    @Test
    // sample: test-without-locks
    void stock_is_reserved() {
        StockService stock = new StockService(LockOperations.withoutLocks());

        assertThat(stock.reserve("pen")).isEqualTo(1);
    }
    // end
}
