package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static io.syncguard.test.Threads.got;
import static io.syncguard.test.Threads.start;
import static io.syncguard.test.Threads.startUnrelated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.leader.LeaderElection;
import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.assertj.core.api.AbstractStringAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.context.SpringBootTest;

/** The assertions hold when they should, and tell a person why they do not. */
@SpringBootTest
@AutoConfigureTestLocks
class LockAssertTests {

    private static final String KEY = "order:42";

    @Autowired
    private LockTestControl control;

    @Autowired
    private LockManager manager;

    @Autowired
    private LockTemplate locks;

    @Autowired
    private Orders orders;

    @Test
    void a_free_key_is_not_held() {
        assertThatFailureOf(() -> assertThatLock(KEY).isHeld())
                .isEqualTo("Expected lock 'order:42' to be held. It is free. No lock is held");
    }

    @Test
    void the_failure_names_the_keys_that_are_held_because_the_expected_one_may_be_misspelt() {
        control.holdElsewhere("orders:42");

        assertThatFailureOf(() -> assertThatLock(KEY).isHeld())
                .isEqualTo("Expected lock 'order:42' to be held. It is free. These are not free: 'orders:42' is held by"
                        + " 'elsewhere' (EXCLUSIVE)");
    }

    @Test
    void a_held_key_is_not_free() {
        control.holdElsewhere(LockRequest.of(KEY).shared());

        assertThatLock(KEY).isHeld().isHeldBy("elsewhere");
        assertThatFailureOf(() -> assertThatLock(KEY).isFree())
                .startsWith("Expected lock 'order:42' to be free. It is held by 'elsewhere' (SHARED). ");
    }

    @Test
    void a_key_is_held_by_its_owner_alone() {
        control.holdElsewhere(LockRequest.of(KEY).owner("b"));

        assertThatFailureOf(() -> assertThatLock(KEY).isHeldBy("a"))
                .startsWith("Expected lock 'order:42' to be held by 'a'. It is held by 'b' (EXCLUSIVE). ");
    }

    @Test
    void a_thread_holds_a_key_while_its_body_runs_and_others_do_not() throws Exception {
        locks.execute(
                KEY,
                lock -> got(start(() -> assertThatFailureOf(
                                () -> assertThatLock(KEY).isHeldByCurrentThread())
                        .startsWith("Expected lock 'order:42' to be held by the thread 'another'. It is held by "))));
        locks.execute(KEY, lock -> assertThatLock(KEY).isHeldByCurrentThread());
    }

    @Test
    void a_lost_lock_is_held_by_no_thread() {
        LockHandle lock = manager.acquire(LockRequest.of(KEY).onLost(OnLost.NOTIFY));
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> locks.execute(lock, body -> {
                    control.endLease(KEY);
                    return assertThatFailureOf(() -> assertThatLock(KEY).isHeldByCurrentThread());
                }));
    }

    @Test
    void the_number_of_waiters_is_exact() {
        assertThatLock(KEY).hasWaiters(0);
        assertThatFailureOf(() -> assertThatLock(KEY).hasWaiters(1))
                .startsWith("Expected lock 'order:42' to have 1 caller who waits for it. It is free. ");
    }

    @Test
    void grants_are_counted() {
        assertThatLock(KEY).wasNeverAcquired();
        assertThatFailureOf(() -> assertThatLock(KEY).wasAcquired())
                .startsWith("Expected lock 'order:42' to have been acquired. ");
        orders.fenceOf("42");
        orders.fenceOf("42");

        assertThatLock(KEY).wasAcquired().wasAcquired(2);
        assertThatFailureOf(() -> assertThatLock(KEY).wasAcquired(1))
                .startsWith("Expected lock 'order:42' to have been acquired once, but it was 2 times. It is free. ");
        assertThatFailureOf(() -> assertThatLock(KEY).wasNeverAcquired())
                .startsWith("Expected lock 'order:42' not to have been acquired, but it was 2 times. ");
    }

    @Test
    void joining_is_no_grant() {
        locks.execute(KEY, lock -> orders.fenceOf("42"));

        assertThatLock(KEY).wasAcquired(1);
    }

    @Test
    void code_acquires_a_key_if_it_also_releases_it() {
        assertThatLock(KEY).isAcquiredDuring(() -> orders.submit("42", () -> "done"));
        assertThatFailureOf(() -> assertThatLock(KEY).isAcquiredDuring(() -> orders.submit("43", () -> "done")))
                .startsWith("Expected lock 'order:42' to be acquired by the code. It is free. ");
        assertThatFailureOf(() -> assertThatLock(KEY).isAcquiredDuring(() -> manager.acquire(LockRequest.of(KEY))))
                .startsWith("Expected lock 'order:42' to be free. It is held by ");
    }

    @Test
    void keys_that_follow_each_other_are_not_held_together() {
        orders.fenceOf("1");
        orders.fenceOf("2");
        orders.fenceOf("1");

        assertThatLock("order:1").wasNeverHeldTogetherWith("order:2");
        assertThatLock("order:1").wasNeverHeldTogetherWith("order:1");
    }

    @Test
    void keys_that_overlapped_were_held_together_although_they_are_free_now() throws Exception {
        control.holdElsewhere(LockRequest.of("order:1").owner("a"));
        orders.fenceOf("2");
        control.endLease("order:1");

        assertThatFailureOf(() -> assertThatLock("order:1").wasNeverHeldTogetherWith("order:2"))
                .startsWith(
                        "Expected locks 'order:1' and 'order:2' never to be held together, but 'order:2' was granted"
                                + " to '")
                .endsWith("' while 'order:1' was held");
        assertThatFailureOf(() -> assertThatLock("order:2").wasNeverHeldTogetherWith("order:1"))
                .startsWith("Expected locks 'order:2' and 'order:1' never to be held together");
    }

    @Test
    void a_lease_that_lapsed_is_held_no_longer() {
        control.holdElsewhere(LockRequest.of("order:1").ttl(Duration.ofMillis(1)));
        long lapsed = System.nanoTime() + 2_000_000;
        Threads.eventually().until(() -> System.nanoTime() > lapsed);
        orders.fenceOf("2");

        assertThatLock("order:1").wasNeverHeldTogetherWith("order:2");
    }

    @Test
    void another_thread_finds_the_control_of_the_only_test() throws Exception {
        got(startUnrelated(() -> assertThatLock(KEY).isFree()));
    }

    @Test
    void several_tests_at_once_have_to_say_which_they_mean(@Autowired LockTestControl own) throws Exception {
        LockTestControl another = controlOfAnotherContext();
        got(start(() -> {
            RunningTests.begin(another);
            try {
                return got(startUnrelated(() -> assertThatIllegalStateException()
                        .isThrownBy(() -> assertThatLock(KEY))
                        .withMessageStartingWith("Several tests run at once")));
            } finally {
                RunningTests.end(another);
            }
        }));

        assertThatLock(own, KEY).isFree();
        assertThatLock(KEY).isFree();
    }

    @Test
    void a_thread_that_outlives_its_test_finds_the_one_that_runs() throws Exception {
        LockTestControl ended = controlOfAnotherContext();
        CountDownLatch afterItsTest = new CountDownLatch(1);
        FutureTask<LockAssert> outliving = got(start(() -> {
            RunningTests.begin(ended);
            FutureTask<LockAssert> heir = start(() -> {
                afterItsTest.await();
                return assertThatLock(KEY).isHeld();
            });
            RunningTests.end(ended);
            return heir;
        }));
        control.holdElsewhere(KEY);
        afterItsTest.countDown();

        got(outliving);
    }

    private static LockTestControl controlOfAnotherContext() {
        var beans = new DefaultListableBeanFactory();
        return new LockTestControl(
                beans.getBeanProvider(LockManager.class), beans.getBeanProvider(LeaderElection.class));
    }

    private static AbstractStringAssert<?> assertThatFailureOf(ThrowingCallable assertion) {
        return assertThat(catchThrowableOfType(AssertionError.class, assertion).getMessage())
                .asString();
    }
}
