package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static io.syncguard.test.Threads.eventually;
import static io.syncguard.test.Threads.got;
import static io.syncguard.test.Threads.start;
import static io.syncguard.test.Threads.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockInfo;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.leader.LeaderElection;
import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.OrderApplication.RecordingListener;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = "syncguard.leader.elections.scheduler.ttl=30s")
@AutoConfigureTestLocks
class LockTestControlTests {

    private static final String KEY = "order:42";

    @Autowired
    private LockTestControl control;

    @Autowired
    private LockManager manager;

    @Autowired
    private Orders orders;

    @Autowired
    private RecordingListener listener;

    @Autowired
    private LeaderElection election;

    @Test
    void a_lease_that_ends_interrupts_its_body_and_is_reported() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        FutureTask<String> body = start(() -> orders.submit("42", () -> {
            begun.countDown();
            return until(new CountDownLatch(1)).call();
        }));
        begun.await();
        control.endLease(KEY);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> got(body))
                .havingCause()
                .isInstanceOf(LockLostException.class)
                .havingCause()
                .isInstanceOf(InterruptedException.class);
        eventually().untilAsserted(() -> assertThat(listener.lost).contains("order:42 NOT_FOUND"));
    }

    @Test
    void its_holder_knows_when_the_call_returns() {
        LockHandle lock = manager.acquire(LockRequest.of(KEY));
        control.endLease(KEY);

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThatLock(KEY).isFree();
    }

    @Test
    void who_waits_for_a_lease_that_ends_goes_on() throws Exception {
        LockHandle lock = manager.acquire(LockRequest.of(KEY));
        FutureTask<LockHandle.State> waiter = start(() -> orders.submit("42", lock::state));
        eventually().untilAsserted(() -> assertThatLock(KEY).hasWaiters(1));
        control.endLease(KEY);

        assertThat(got(waiter)).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void all_readers_lose_their_leases() {
        LockHandle one = manager.acquire(LockRequest.of(KEY).shared());
        LockHandle other = manager.acquire(LockRequest.of(KEY).shared());
        control.endLease(KEY);

        assertThat(one.isHeld() || other.isHeld()).isFalse();
    }

    @Test
    void a_key_that_is_held_at_least_for_a_time_can_be_freed() {
        orders.report();
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(orders::report);
        control.endLease("report");

        orders.report();
    }

    @Test
    void a_leader_steps_down_and_is_elected_again() {
        eventually().until(() -> election.isLeader("scheduler"));
        long before = election.member("scheduler").fence().orElseThrow().value();
        control.endLease("leader:scheduler");

        eventually()
                .until(() -> election.isLeader("scheduler")
                        && election.member("scheduler").fence().orElseThrow().value() > before);
    }

    @Test
    void a_key_that_nobody_holds_is_a_mistake_in_the_test() {
        manager.acquire(LockRequest.of("order:43").owner("me"));

        assertThatIllegalStateException()
                .isThrownBy(() -> control.endLease(KEY))
                .withMessageStartingWith("Nobody holds lock 'order:42'. These are not free: ")
                .withMessageContaining("'order:43' is held by 'me' (EXCLUSIVE)");
    }

    @Test
    void callers_wait_for_another_process() throws Exception {
        OtherHolder other = control.holdElsewhere(KEY);
        FutureTask<String> waiter = start(() -> orders.submit("42", () -> "done"));
        eventually().untilAsserted(() -> assertThatLock(KEY).hasWaiters(1));
        assertThat(waiter).isNotDone();
        other.release();

        assertThat(got(waiter)).isEqualTo("done");
    }

    @Test
    void another_process_may_be_a_reader() {
        control.holdElsewhere(LockRequest.of(KEY).shared().owner("reader"));

        assertThatLock(KEY).isHeldBy("reader");
        assertThat(manager.tryAcquire(LockRequest.of(KEY).shared())).isNotNull();
        assertThat(manager.tryAcquire(LockRequest.of(KEY))).isNull();
    }

    @Test
    void another_process_may_die() {
        control.holdElsewhere(LockRequest.of(KEY).ttl(Duration.ofMillis(1)));

        manager.acquire(LockRequest.of(KEY).waitTime(Duration.ofSeconds(5))).close();
    }

    @Test
    void another_process_cannot_hold_what_is_held() {
        manager.acquire(LockRequest.of(KEY).owner("me"));

        assertThatIllegalStateException()
                .isThrownBy(() -> control.holdElsewhere(KEY))
                .withMessage("Lock 'order:42' cannot be held elsewhere, because it is held by 'me' (EXCLUSIVE)");
    }

    @Test
    void the_next_acquire_fails_once() {
        control.failNextAcquire(KEY, LockErrorCode.SERVICE_UNAVAILABLE);
        orders.fenceOf("43");

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> orders.fenceOf("42"))
                .returns(LockErrorCode.SERVICE_UNAVAILABLE, LockBackendException::code)
                .withMessage("The test fails this acquire request for lock 'order:42'");
        orders.fenceOf("42");
    }

    @Test
    void the_next_acquires_of_any_key_fail_in_their_order() {
        control.failNextAcquire(LockErrorCode.RATE_LIMITED);
        control.failNextAcquire(LockErrorCode.NETWORK_TIMEOUT);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> orders.fenceOf("42"))
                .returns(LockErrorCode.RATE_LIMITED, LockBackendException::code);
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> orders.fenceOf("43"))
                .returns(LockErrorCode.NETWORK_TIMEOUT, LockBackendException::code);
    }

    @Test
    void the_next_acquire_is_refused_without_waiting() {
        control.refuseNextAcquire(KEY);
        control.refuseNextAcquire();

        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> manager.acquire(LockRequest.of(KEY).waitTime(Duration.ofDays(1))))
                .returns("elsewhere", LockNotAcquiredException::owner);
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.fenceOf("43"));
        orders.fenceOf("43");
    }

    @Test
    void a_planned_refusal_of_one_key_refuses_a_call_for_several() {
        List<LockRequest> requests = Stream.of("order:41", KEY, "order:43")
                .map(key -> LockRequest.of(key).waitTime(Duration.ofDays(1)))
                .toList();
        control.refuseNextAcquire(KEY);
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> manager.acquire(requests))
                .returns(KEY, LockNotAcquiredException::key);
        control.refuseNextAcquire(KEY);
        assertThat(manager.tryAcquire(requests)).isNull();
        assertThat(control.status("order:41").holders()).isEmpty();

        try (LockHandles handles = manager.acquire(requests)) {
            assertThat(handles.areHeld()).isTrue();
        }
    }

    @Test
    void elections_are_spared_from_plans_for_any_key() {
        eventually().until(() -> election.isLeader("scheduler"));
        control.failNextAcquire(LockErrorCode.SERVICE_UNAVAILABLE);
        control.endLease("leader:scheduler");

        eventually().until(() -> election.isLeader("scheduler"));
        assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> orders.fenceOf("42"));
    }

    @Test
    void it_answers_who_holds_what() {
        control.holdElsewhere(KEY);

        assertThat(control.status(KEY).holders())
                .extracting(LockInfo::owner, LockInfo::mode)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("elsewhere", LockMode.EXCLUSIVE));
        assertThat(control.status("order:43").holders()).isEmpty();
        assertThat(control.locks()).extracting(LockStatus::key).contains(KEY);
    }
}
