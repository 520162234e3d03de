package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An attempt to acquire: its answers, its cost, and the release of a grant whose answer does not arrive. */
class AcquireTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");
    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void a_free_key_takes_one_attempt() {
        try (LockHandle lock = locks.acquire(REQUEST)) {
            assertThat(lock.isHeld()).isTrue();
            assertThat(lock.fence().toString()).isEqualTo("000000000000001");
            assertThat(lock.lockId()).matches("[A-Za-z0-9_-]{22}");
            assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        }
        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.backend.releases).hasValue(1);
        assertThat(fixture.events).containsExactly("acquired", "released");
    }

    @Test
    void every_acquisition_has_a_lock_id_of_its_own() {
        LockHandle first = locks.acquire(REQUEST);
        first.release();

        assertThat(locks.acquire(REQUEST).lockId()).isNotEqualTo(first.lockId());
    }

    @Test
    void a_wait_time_of_zero_is_one_attempt() {
        fixture.holdElsewhere("order:42", LONG);

        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> locks.acquire(REQUEST.waitTime(Duration.ZERO)))
                .withMessageContaining("order:42")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ACQUISITION_TIMEOUT));
        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.events).containsExactly("refused");
    }

    @Test
    void a_try_is_one_attempt_whatever_the_wait_time() {
        fixture.holdElsewhere("order:42", LONG);

        assertThat(locks.tryAcquire(REQUEST.waitTime(LONG))).isNull();
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @BugOf("distkit: two tries on one object both succeed")
    @Test
    void two_tries_of_one_thread_are_two_requests_and_the_second_is_refused() {
        LockHandle first = locks.tryAcquire(REQUEST);

        assertThat(first).isNotNull();
        assertThat(locks.tryAcquire(REQUEST)).isNull();
    }

    @BugOf("Spring Integration: a try of a second goes on for ten seconds of transient errors, without a pause")
    @Test
    void an_error_of_the_server_ends_the_wait_at_once() {
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> locks.acquire(REQUEST))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.events).containsExactly("failed ACQUIRE SERVICE_UNAVAILABLE");
    }

    @Test
    void a_grant_whose_answer_was_lost_is_released_by_its_lock_id() {
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(LockBackendException.class);

        eventually().until(() -> !locks.isLocked("order:42"));
    }

    @Test
    void a_grant_that_the_server_makes_after_its_answer_was_given_up_is_released_too() {
        AtomicReference<AcquireRequest> sent = new AtomicReference<>();
        fixture.backend.onAcquire = sent::set;
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(LockBackendException.class);
        eventually().until(() -> fixture.backend.releases.get() == 1);

        new StoreCalls(new InMemoryLockBackend(fixture.store)).acquire(sent.get());
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_grant_that_the_server_makes_after_it_released_another_of_the_same_lock_id_is_released_too() {
        AtomicReference<AcquireRequest> sent = new AtomicReference<>();
        fixture.backend.onAcquire = sent::set;
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(LockBackendException.class);
        eventually().until(() -> !locks.isLocked("order:42"));

        // A waiter may have been handed the key while this request of it was under way.
        new StoreCalls(new InMemoryLockBackend(fixture.store)).acquire(sent.get());
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_grant_whose_answer_was_lost_is_released_even_when_another_release_was_stuck_for_long() {
        CountDownLatch bothAreLost = new CountDownLatch(2);
        AtomicBoolean stuck = new AtomicBoolean(true);
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.backend.beforeRelease = () -> {
            if (stuck.getAndSet(false)) {
                eventually().until(() -> bothAreLost.getCount() == 0);
                fixture.time.advance(fixture.backend.inDoubtPeriod().plusSeconds(1));
            }
        };

        for (String key : List.of("order:42", "order:43")) {
            assertThatThrownBy(() -> locks.acquire(REQUEST.key(key).ttl(LONG)))
                    .isInstanceOf(LockBackendException.class);
            bothAreLost.countDown();
        }

        eventually().until(() -> !locks.isLocked("order:42") && !locks.isLocked("order:43"));
    }

    @Test
    void a_grant_whose_answer_was_lost_is_released_when_the_server_answers_again_after_a_long_outage() {
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThatThrownBy(() -> locks.acquire(REQUEST.ttl(LONG))).isInstanceOf(LockBackendException.class);
        fixture.advanceSlowly(Duration.ofMinutes(10), Duration.ofSeconds(5));
        assertThat(locks.isLocked("order:42")).isTrue();

        fixture.backend.beforeRelease = () -> {};
        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_queue_entry_whose_answer_was_lost_is_deleted_although_a_lease_would_have_lapsed_meanwhile() {
        fixture.holdElsewhere("order:42", LONG);
        fixture.backend.inDoubtPeriod = Duration.ofMillis(500);
        fixture.backend.afterAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        LockRequest shortLease = REQUEST.ttl(Duration.ofMillis(100)).waitTime(Duration.ofMinutes(1));
        assertThatThrownBy(() -> locks.acquire(shortLease)).isInstanceOf(LockBackendException.class);
        assertThat(waiters()).isOne();
        fixture.advanceSlowly(Duration.ofSeconds(2), Duration.ofMillis(100));

        fixture.backend.beforeRelease = () -> {};
        fixture.advanceSlowly(Duration.ofMillis(1500), Duration.ofMillis(100));

        assertThat(waiters()).as("before the entry would have lapsed by itself").isZero();
    }

    private long waiters() {
        return locks.admin().status("order:42").orElseThrow().waiters();
    }

    @Test
    void a_grant_that_the_server_makes_when_it_goes_on_after_it_stood_still_is_released() {
        AtomicReference<AcquireRequest> sent = new AtomicReference<>();
        fixture.backend.onAcquire = sent::set;
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        assertThatThrownBy(() -> locks.acquire(REQUEST.ttl(LONG))).isInstanceOf(LockBackendException.class);
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));

        fixture.backend.beforeRelease = () -> {};
        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));
        new StoreCalls(new InMemoryLockBackend(fixture.store)).acquire(sent.get());
        fixture.advanceSlowly(Duration.ofSeconds(3), Duration.ofMillis(100));

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_release_of_unknown_need_ends_with_the_ttl_of_what_it_would_release() {
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThatThrownBy(() -> locks.acquire(REQUEST.ttl(Duration.ofMinutes(1))))
                .isInstanceOf(LockBackendException.class);

        fixture.advanceSlowly(Duration.ofSeconds(60), Duration.ofSeconds(1));
        int sent = fixture.backend.releases.get();
        assertThat(sent).isGreaterThan(20);
        fixture.advanceSlowly(Duration.ofSeconds(8), Duration.ofSeconds(1));
        int atEnd = fixture.backend.releases.get();
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));

        assertThat(atEnd).isGreaterThan(sent);
        assertThat(fixture.backend.releases).hasValue(atEnd);
    }

    @Test
    void a_request_of_unknown_outcome_is_forgotten_when_the_server_must_have_ended_it() {
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThatThrownBy(() -> locks.acquire(REQUEST.ttl(LONG))).isInstanceOf(LockBackendException.class);

        fixture.advanceSlowly(Duration.ofSeconds(8), Duration.ofMillis(500));
        int sent = fixture.backend.releases.get();
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));

        assertThat(sent).isBetween(3, 15);
        assertThat(fixture.backend.releases).hasValue(sent);
    }

    @Test
    void a_grant_that_arrives_while_the_application_stops_is_given_back() {
        fixture.backend.afterAcquire = locks::stop;

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(REQUEST))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(fixture.events).as("no gauge is left behind").containsExactly("acquired", "released");
        assertThat(fixture.backend.isLocked("order:42")).isFalse();
    }

    @Test
    void a_grant_that_is_over_on_arrival_is_lost_and_no_handle() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofMillis(20));

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> locks.acquire(REQUEST.ttl(Duration.ofMillis(20))))
                .withMessageContaining("longer ttl");
        assertThat(fixture.events).as("never acquired, never lost").containsExactly("failed ACQUIRE LOST");
        eventually().until(() -> !locks.isLocked("order:42"));
    }

    @BugOf("River: a deadline counts from the reply")
    @Test
    void the_deadline_counts_from_before_the_request_was_sent() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(10));

        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());

        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(20));
    }

    @Test
    void an_interrupted_thread_sends_nothing() {
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> locks.tryAcquire(REQUEST)).isInstanceOf(LockException.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(fixture.backend.acquires).hasValue(0);
    }

    @Test
    void a_driver_that_was_interrupted_means_aborted_and_nothing_is_left_behind() {
        fixture.backend.afterAcquire = () -> {
            Thread.currentThread().interrupt();
            throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
        };

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(REQUEST))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(Thread.interrupted()).isTrue();
        eventually().until(() -> !locks.isLocked("order:42"));
    }
}
