package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static io.syncguard.test.Threads.eventually;
import static io.syncguard.test.Threads.got;
import static io.syncguard.test.Threads.start;
import static io.syncguard.test.Threads.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElection;
import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** Locks in memory do what those on a server do, in an application whose database is none that could have locks. */
@SpringBootTest(properties = "syncguard.leader.elections.scheduler.ttl=30s")
@AutoConfigureTestLocks
class TestLocksTests {

    @Autowired
    private Orders orders;

    @Autowired
    private LockTemplate locks;

    @Autowired
    private LockManager manager;

    @Test
    void an_annotated_method_runs_under_its_lock() throws Exception {
        orders.submit("42", () -> assertThatLock("order:42").isHeld().isHeldByCurrentThread());

        assertThatLock("order:42").isFree().wasAcquired(1);
    }

    @Test
    void callers_exclude_each_other_and_wait_in_the_order_of_their_arrival() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        FutureTask<String> first = start(() -> orders.submit("42", until(end)));
        eventually().untilAsserted(() -> assertThatLock("order:42").isHeld());
        FutureTask<Long> second = start(() -> orders.submit("42", System::nanoTime));
        eventually().untilAsserted(() -> assertThatLock("order:42").hasWaiters(1));
        FutureTask<Long> third = start(() -> orders.submit("42", System::nanoTime));
        eventually().untilAsserted(() -> assertThatLock("order:42").hasWaiters(2));
        end.countDown();

        assertThat(got(first)).isEqualTo("done");
        assertThat(got(second)).isLessThan(got(third));
    }

    @Test
    void fences_grow() {
        assertThat(orders.fenceOf("42")).isLessThan(orders.fenceOf("42"));
    }

    @Test
    void a_try_is_refused_while_somebody_else_holds_the_key(@Autowired LockTestControl control) {
        control.holdElsewhere("order:42");

        assertThat(manager.tryAcquire(LockRequest.of("order:42"))).isNull();
        assertThat(locks.tryExecute("order:43", lock -> "done").value()).isEqualTo("done");
    }

    @Test
    void this_process_is_elected(@Autowired LeaderElection election) {
        eventually().until(() -> election.isLeader("scheduler"));

        assertThatLock("leader:scheduler").isHeld();
    }
}
