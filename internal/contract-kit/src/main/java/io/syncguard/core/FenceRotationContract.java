package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The guarantees of every backend when a holder takes the next fence of its key. This is an extension of the same
 * grant.
 */
public abstract class FenceRotationContract extends ContractFixture {

    @Test
    void a_lease_takes_the_next_fence_of_its_key() {
        AcquireRequest holder = held(writer());

        assertThat(rotated(holder).fence()).is(nth(2));
        assertThat(rotated(holder).fence()).is(nth(3));

        assertDrawn(3);
    }

    @Test
    void the_grant_stays_the_same_but_for_its_fence_and_its_end() {
        AcquireRequest holder = held(writer());
        RawLockInfo before = holder();

        ExtendResult.Rotated rotated = rotated(holder);

        assertThat(holder())
                .isEqualTo(new RawLockInfo(
                        before.key(),
                        before.lockId(),
                        before.mode(),
                        before.acquiredAt(),
                        rotated.expiresAt(),
                        rotated.fence(),
                        before.owner()));
        assertThat(backend().lookupById(holder.lockId())).contains(holder());
        release(holder);
    }

    @Test
    void the_lease_ends_one_ttl_from_now_be_that_later_or_earlier_than_before() {
        long began = System.nanoTime();
        AcquireRequest holder = writer(Duration.ofMinutes(10));
        Instant granted = granted(holder).acquiredAt();

        for (Duration ttl : List.of(Duration.ofHours(1), Duration.ofMinutes(1))) {
            assertThat(rotate(holder, ttl)).isInstanceOf(ExtendResult.Rotated.class);
            Duration passed = Duration.ofNanos(System.nanoTime() - began).plusMillis(2);
            assertThat(Duration.between(granted, holder().expiresAt())).isBetween(ttl, ttl.plus(passed));
        }
    }

    @Test
    void a_lease_that_lapsed_is_not_revived_and_takes_no_fence() {
        AcquireRequest holder = held(writer());
        expireLease(holder);

        assertThat(rotate(holder, TTL)).isInstanceOf(ExtendResult.Expired.class);

        assertThat(backend().isLocked(KEY)).isFalse();
        assertDrawn(1);
    }

    @Test
    void a_lock_id_without_a_lease_takes_no_fence() {
        AcquireRequest before = held(writer());
        release(before);
        AcquireRequest holder = held(writer());
        RawLockInfo lease = holder();

        assertThat(rotate(before, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().rotate(Requests.extension(newLockId(), TTL))).isInstanceOf(ExtendResult.NotFound.class);

        assertThat(holder()).isEqualTo(lease);
        assertDrawn(2);
        release(holder);
    }

    /** The order of fences shows which reader was granted the key after which writer. */
    @Test
    void a_shared_lease_keeps_its_fence() {
        AcquireRequest reader = held(reader());
        RawLockInfo lease = holder();

        assertThat(rotate(reader, Duration.ofHours(1))).isInstanceOf(ExtendResult.NotFound.class);

        assertThat(holder()).isEqualTo(lease);
        assertDrawn(1);
    }

    @Test
    void a_queue_entry_takes_no_fence_and_stays() {
        held(writer());
        AcquireRequest waiter = queuedWriter();

        assertThat(rotate(waiter, TTL)).isInstanceOf(ExtendResult.NotFound.class);

        assertDrawn(1);
        leave(waiter);
    }

    @Test
    void who_takes_the_key_over_has_a_larger_fence_and_who_had_it_takes_none_any_more() {
        AcquireRequest before = held(writer());
        rotated(before);
        expireLease(before);

        AcquireRequest next = writer();
        assertThat(granted(elsewhere(), next).fence()).is(nth(3));
        assertThat(rotate(before, TTL)).isInstanceOf(ExtendResult.NotFound.class);

        assertThat(holder().lockId()).isEqualTo(next.lockId());
        assertThat(holder().fence()).is(nth(3));
    }

    @Test
    void the_next_after_a_release_has_a_larger_fence() {
        AcquireRequest before = held(writer());
        rotated(before);
        release(before);

        assertThat(granted(reader()).fence()).is(nth(3));
    }

    @Test
    void an_extension_keeps_the_fence_that_was_taken_last() {
        AcquireRequest holder = held(writer());
        rotated(holder);

        assertThat(extend(holder, Duration.ofHours(1))).isInstanceOf(ExtendResult.Extended.class);

        assertThat(holder().fence()).is(nth(2));
        assertDrawn(2);
    }

    @Test
    void other_keys_keep_their_leases_and_fences() {
        AcquireRequest other = held(request("order:43", LockMode.EXCLUSIVE, TTL));
        long fence = store().storedFence("order:43");
        RawLockInfo lease = backend().lookupById(other.lockId()).orElseThrow();
        AcquireRequest holder = held(writer());

        rotated(holder);

        assertThat(backend().lookup("order:43")).containsExactly(lease);
        assertThat(store().storedFence("order:43")).isEqualTo(fence);
    }

    @Test
    void the_queue_stays_as_it_is() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedReader();

        rotated(holder);

        queued(second);
        release(holder);
        queued(second);
        assertThat(granted(first).fence()).is(nth(3));
    }

    @Test
    void without_fences_the_lease_is_as_it_was() {
        AcquireRequest holder = held(writer(Duration.ofMinutes(1)));
        store().drawnUpTo(KEY, Fence.MAX_VALUE - 1);
        assertThat(rotated(holder).fence()).as("the last one").isEqualTo(new Fence(Fence.MAX_VALUE));
        RawLockInfo lease = holder();

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> rotate(holder, Duration.ofHours(1)))
                .withMessageContaining("no fences left")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));

        assertThat(holder()).isEqualTo(lease);
        assertThat(store().storedFence(KEY)).isEqualTo(Fence.MAX_VALUE);
        assertThat(extend(holder, TTL)).isInstanceOf(ExtendResult.Extended.class);
    }

    private ExtendResult.Rotated rotated(AcquireRequest request) {
        ExtendResult outcome = rotate(request, TTL);
        assertThat(outcome).isInstanceOf(ExtendResult.Rotated.class);
        return (ExtendResult.Rotated) outcome;
    }

    /** The current holder of the key. */
    private RawLockInfo holder() {
        assertThat(backend().lookup(KEY)).hasSize(1);
        return backend().lookup(KEY).get(0);
    }
}
