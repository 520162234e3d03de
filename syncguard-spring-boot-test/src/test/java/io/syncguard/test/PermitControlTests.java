package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static io.syncguard.test.Threads.eventually;
import static io.syncguard.test.Threads.got;
import static io.syncguard.test.Threads.start;
import static io.syncguard.test.Threads.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.OrderApplication.RecordingListener;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** Fills and frees the permits of a lock, and ends one of them. */
@SpringBootTest
@AutoConfigureTestLocks
class PermitControlTests {

    private static final LockRequest PARTNER = LockRequest.of("partner", "42").permits(3);

    @Autowired
    private LockTestControl control;

    @Autowired
    private LockManager manager;

    @Autowired
    private Orders orders;

    @Autowired
    private RecordingListener listener;

    @Test
    void another_instance_leaves_one_permit_and_then_none() throws Exception {
        List<OtherHolder> others = control.holdElsewhere(PARTNER, 2);
        assertThat(ask()).isEqualTo("asked");

        control.holdElsewhere(PARTNER);
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this::ask);
        others.get(1).release();

        assertThat(ask()).isEqualTo("asked");
        assertThat(control.status("partner:42").holders())
                .extracting(LockInfo::mode)
                .containsExactly(LockMode.SHARED, LockMode.SHARED);
    }

    @Test
    void a_permit_that_comes_back_is_handed_to_the_caller_who_waits() throws Exception {
        OtherHolder other = control.holdElsewhere(PARTNER, 3).get(0);
        FutureTask<LockHandle> waiter = start(() -> manager.acquire(PARTNER.waitTime(Duration.ofMinutes(1))));
        eventually().untilAsserted(() -> assertThatLock("partner:42").hasWaiters(1));

        other.release();

        assertThat(got(waiter).request().permits()).isEqualTo(3);
    }

    @Test
    void more_than_there_is_room_for_are_a_mistake_in_the_test_and_hold_nothing() throws Exception {
        control.holdElsewhere(PARTNER.owner("reader"), 2);

        assertThatIllegalStateException()
                .isThrownBy(() -> control.holdElsewhere(PARTNER, 2))
                .withMessage("Lock 'partner:42' cannot be held elsewhere, because it is held by 'reader' (SHARED),"
                        + " 'reader' (SHARED), 'elsewhere' (SHARED)");
        assertThat(control.status("partner:42").holders()).hasSize(2);
    }

    @Test
    void one_permit_that_is_lost_interrupts_its_body_and_no_other() throws Exception {
        LockHandle remains = manager.acquire(PARTNER.owner("remains"));
        control.holdElsewhere(PARTNER);
        CountDownLatch begun = new CountDownLatch(1);
        FutureTask<String> body = start(() -> orders.ask("42", () -> {
            begun.countDown();
            return until(new CountDownLatch(1)).call();
        }));
        begun.await();
        List<LockInfo> holders = control.status("partner:42").holders();

        control.endLease("partner:42", holders.get(2).fence());

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> got(body))
                .havingCause()
                .isInstanceOf(LockLostException.class);
        eventually().untilAsserted(() -> assertThat(listener.lost).contains("partner:42 NOT_FOUND"));
        assertThat(remains.isHeld()).isTrue();
        assertThat(control.status("partner:42").holders()).isEqualTo(holders.subList(0, 2));
    }

    @Test
    void the_permit_of_an_instance_that_is_gone_goes_to_the_caller_who_waits() throws Exception {
        control.holdElsewhere(PARTNER, 3);
        FutureTask<LockHandle> waiter = start(() -> manager.acquire(PARTNER.waitTime(Duration.ofMinutes(1))));
        eventually().untilAsserted(() -> assertThatLock("partner:42").hasWaiters(1));
        Fence lease = control.status("partner:42").holders().get(1).fence();

        control.endLease("partner:42", lease);

        assertThat(got(waiter).isHeld()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> control.endLease("partner:42", lease))
                .withMessageStartingWith("Nobody holds lock 'partner:42' with the fence " + lease + ". It is held by");
    }

    /** After the release, holdAtLeast keeps the lease, but nobody holds it any more. */
    @Test
    void a_permit_that_is_released_early_is_freed_alone() throws Exception {
        LockRequest longer = PARTNER.holdAtLeast(Duration.ofHours(1));
        for (int i = 0; i < 3; i++) {
            manager.acquire(longer).release();
        }
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this::ask);

        control.endLease(
                "partner:42", control.status("partner:42").holders().get(0).fence());

        assertThat(control.status("partner:42").holders()).hasSize(2);
        assertThat(ask()).isEqualTo("asked");
    }

    private String ask() throws Exception {
        return orders.ask("42", () -> "asked");
    }
}
