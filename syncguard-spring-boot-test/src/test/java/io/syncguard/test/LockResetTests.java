package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static io.syncguard.test.Threads.eventually;
import static io.syncguard.test.Threads.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.leader.LeaderElection;
import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** What a test method leaves behind does not reach the next one. */
@SpringBootTest(properties = "syncguard.leader.elections.scheduler.ttl=30s")
@AutoConfigureTestLocks
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LockResetTests {

    private static LockHandle leaked;
    private static FutureTask<Long> waiter;
    private static long term;

    @Autowired
    private LockTestControl control;

    @Autowired
    private LockManager manager;

    @Autowired
    private Orders orders;

    @Autowired
    private LeaderElection election;

    @Test
    @Order(1)
    void a_test_leaves_much_behind() {
        leaked = manager.acquire(LockRequest.of("order:1"));
        control.holdElsewhere("order:2");
        waiter = start(() -> manager.acquire(LockRequest.of("order:2").waitTime(Duration.ofDays(1)))
                .fence()
                .value());
        eventually().untilAsserted(() -> assertThatLock("order:2").hasWaiters(1));
        orders.report();
        eventually().until(() -> election.isLeader("scheduler"));
        term = election.member("scheduler").fence().orElseThrow().value();
        control.refuseNextAcquire("order:3");
        control.failNextAcquire(LockErrorCode.INTERNAL);
    }

    @Test
    @Order(2)
    void the_next_one_finds_all_keys_free_and_no_plans() {
        assertThatLock("order:1").isFree().wasNeverAcquired();
        assertThatLock("order:2").isFree().hasWaiters(0);
        orders.fenceOf("1");
        orders.fenceOf("2");
        orders.fenceOf("3");
        orders.report();
    }

    @Test
    @Order(3)
    void the_holder_and_the_waiter_of_before_have_been_told() {
        assertThat(leaked.state()).isEqualTo(LockHandle.State.LOST);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> waiter.get(10, TimeUnit.SECONDS))
                .havingCause()
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.code()).isEqualTo(LockErrorCode.ABORTED))
                .withMessageContaining("has ended");
    }

    @Test
    @Order(4)
    void elections_go_on() {
        assertThat(election.member("scheduler").fence().orElseThrow().value()).isEqualTo(term);
    }

    @Test
    @Order(5)
    void an_election_that_was_held_elsewhere_is_given_back() {
        election.member("scheduler").pause();
        eventually().untilAsserted(() -> assertThatLock("leader:scheduler").isFree());
        control.holdElsewhere("leader:scheduler");
        election.member("scheduler").resume();
    }

    @Test
    @Order(6)
    void so_this_process_leads_again() {
        eventually().until(() -> election.isLeader("scheduler"));
    }
}
