package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A holder that takes the next fence of its key extends its lock as well, and its handle only has confirmed fences. */
class FenceRotationTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void the_handle_and_all_lookups_answer_the_next_fence() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(lock.rotateFence()).isEqualTo(new Fence(2));

        assertThat(lock.fence()).isEqualTo(new Fence(2));
        assertThat(locks.admin().lookup("order:42")).map(LockInfo::fence).contains(new Fence(2));
        assertThat(locks.admin().holders("order:42"))
                .extracting(LockInfo::fence)
                .containsExactly(new Fence(2));
        assertThat(locks.admin().lookupById(lock.lockId())).map(LockInfo::fence).contains(new Fence(2));
        assertThat(fixture.backend.rotations).hasValue(1);
    }

    @Test
    void the_lock_is_held_for_a_whole_ttl_from_before_the_request() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        fixture.time.advance(Duration.ofSeconds(20));
        fixture.backend.beforeExtend = () -> fixture.time.advance(Duration.ofSeconds(4));

        lock.rotateFence();

        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(26));
        assertThat(locks.admin().lookup("order:42")).map(LockInfo::expiresAt).contains(lock.expiresAt());
    }

    @Test
    void the_ttl_is_the_one_of_the_last_extension() {
        LockHandle lock = locks.acquire(REQUEST);
        lock.extend(Duration.ofMinutes(2));
        fixture.time.advance(Duration.ofSeconds(30));

        lock.rotateFence();

        assertThat(lock.remaining()).isEqualTo(Duration.ofMinutes(2));
    }

    @Test
    void the_heartbeat_counts_from_there_and_keeps_the_fence() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.time.advance(Duration.ofSeconds(5));
        lock.rotateFence();

        fixture.advanceSlowly(Duration.ofMillis(7_400), Duration.ofMillis(1_850));
        assertThat(fixture.backend.extendStatements).hasValue(0);
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));

        assertThat(fixture.backend.extendStatements).hasPositiveValue();
        assertThat(lock.fence()).isEqualTo(new Fence(2));
        assertThat(locks.admin().lookup("order:42")).map(LockInfo::fence).contains(new Fence(2));
    }

    @Test
    void a_lock_that_is_gone_is_lost() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.store.expire("order:42");

        assertLost(lock);

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        eventually().until(() -> fixture.events.contains("lost"));
    }

    @Test
    void past_its_deadline_or_released_a_handle_takes_none_and_asks_nobody() {
        LockHandle late = locks.acquire(REQUEST.noHeartbeat());
        fixture.time.advance(EngineFixture.TTL);
        LockHandle released = locks.acquire(LockRequest.of("order:43"));
        released.release();

        assertLost(late);
        assertLost(released);

        assertThat(fixture.backend.rotations).hasValue(0);
    }

    @Test
    void a_confirmation_that_comes_after_the_deadline_brings_neither_lock_nor_fence() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        fixture.backend.afterExtend = () -> fixture.time.advance(EngineFixture.TTL);

        assertLost(lock);

        assertThat(lock.fence()).isEqualTo(new Fence(1));
    }

    @Test
    void a_shared_lock_is_refused_and_nobody_is_asked() {
        LockHandle reading = locks.acquire(REQUEST.shared());

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(reading::rotateFence)
                .withMessageContaining("order:42")
                .withMessageContaining("SHARED")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));

        assertThat(reading.isHeld()).isTrue();
        assertThat(fixture.backend.rotations).hasValue(0);
    }

    @Test
    void a_joined_handle_takes_it_for_the_outer_hold_as_long_as_it_has_not_been_released() {
        new LockTemplate(locks).executeWithoutResult(REQUEST, outer -> {
            LockHandle inner = locks.acquire(REQUEST.shared());

            assertThat(inner.rotateFence()).isEqualTo(new Fence(2));
            assertThat(outer.fence()).isEqualTo(new Fence(2));
            assertThat(inner.fence()).isEqualTo(new Fence(2));

            inner.release();
            assertLost(inner);
            assertThat(outer.fence()).isEqualTo(new Fence(2));
        });
    }

    @Test
    void a_row_that_is_locked_is_tried_again() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.rowsArePinned = true;
        FutureTask<Fence> rotation = inAnotherThread(lock::rotateFence);
        eventually().until(() -> fixture.time.sleepers() == 1);

        fixture.backend.rowsArePinned = false;
        fixture.time.advance(Duration.ofMillis(10));

        assertThat(got(rotation)).isEqualTo(new Fence(2));
        assertThat(fixture.backend.rotations).hasValue(2);
    }

    @Test
    void a_failure_leaves_lock_and_fence_as_they_were() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(lock::rotateFence)
                .withMessageContaining("'order:42'");

        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        assertThat(lock.fence()).isEqualTo(new Fence(1));
        assertThat(fixture.events).containsExactly("acquired", "failed EXTEND NETWORK_TIMEOUT");
    }

    /** The server's lease has a fence that no process received. */
    @Test
    void an_answer_that_was_lost_leaves_the_fence_as_it_was_and_the_next_one_is_larger() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThatExceptionOfType(LockBackendException.class).isThrownBy(lock::rotateFence);
        fixture.backend.afterExtend = () -> {};

        assertThat(fixture.store.fence("order:42"))
                .as("the fence at the server")
                .isEqualTo(2);
        assertThat(lock.fence()).isEqualTo(new Fence(1));
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));
        assertThat(lock.isHeld()).isTrue();
        assertThat(lock.fence()).isEqualTo(new Fence(1));

        assertThat(lock.rotateFence()).isEqualTo(new Fence(3));
        assertThat(lock.fence()).isEqualTo(new Fence(3));
    }

    @Test
    void without_fences_the_lock_goes_on_with_the_one_it_has() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.store.drawnUpTo("order:42", Fence.MAX_VALUE);
        fixture.time.advance(Duration.ofSeconds(5));

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(lock::rotateFence)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));

        assertThat(lock.fence()).isEqualTo(new Fence(1));
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(25));
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));
        assertThat(lock.isHeld()).isTrue();
    }

    /** This happens in a Redis that lost its counter, and not the lease. */
    @Test
    void a_fence_that_is_not_larger_is_not_taken_over() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.store.drawnUpTo("order:42", 0);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(lock::rotateFence)
                .withMessageContaining("'order:42'")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));

        assertThat(lock.fence()).isEqualTo(new Fence(1));
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void it_waits_for_the_heartbeat_that_is_under_way() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterExtend = () -> {
            fixture.backend.afterExtend = () -> {};
            arrived.countDown();
            HeartbeatTests.awaitQuietly(goOn);
        };
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();

        FutureTask<Fence> rotation = inAnotherThread(lock::rotateFence);
        fixture.settle();
        assertThat(fixture.backend.rotations).hasValue(0);
        goOn.countDown();

        assertThat(got(rotation)).isEqualTo(new Fence(2));
    }

    @Test
    void of_two_at_once_the_fence_of_the_handle_is_the_larger_one() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        fixture.backend.afterExtend = () -> {
            fixture.backend.afterExtend = () -> {};
            arrived.countDown();
            HeartbeatTests.awaitQuietly(goOn);
        };
        FutureTask<Fence> first = inAnotherThread(lock::rotateFence);
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();
        FutureTask<Fence> second = inAnotherThread(lock::rotateFence);
        fixture.settle();
        goOn.countDown();

        assertThat(List.of(got(first), got(second))).contains(new Fence(3));
        assertThat(lock.fence()).isEqualTo(new Fence(3));
    }

    private static void assertLost(LockHandle lock) {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::rotateFence)
                .satisfies(ex -> assertThat(ex.key()).isEqualTo(lock.key()));
    }
}
