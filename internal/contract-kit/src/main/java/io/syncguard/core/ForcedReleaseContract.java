package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The guarantees of every backend for a release by force. */
public abstract class ForcedReleaseContract extends ContractFixture {

    @Test
    void it_ends_the_lease_of_another_process_with_a_larger_fence() {
        AcquireRequest hangs = writer();
        AcquireResult.Granted grant = granted(elsewhere(), hangs);

        ForcedRelease done = backend().forceRelease(KEY);

        assertThat(done.key()).isEqualTo(KEY);
        assertThat(done.released()).singleElement().satisfies(lease -> {
            assertThat(lease.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(lease.owner()).isEqualTo(hangs.options().owner());
            assertThat(lease.fence()).isEqualTo(grant.fence());
            assertThat(lease.acquiredAt()).isEqualTo(grant.acquiredAt());
            assertThat(lease.expiresAt()).isEqualTo(grant.expiresAt());
        });
        assertThat(done.remaining()).isEmpty();
        assertThat(done.fence()).isGreaterThan(grant.fence());
        assertThat(backend().isLocked(KEY)).isFalse();
        assertThat(extend(hangs, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(granted(writer()).fence()).isGreaterThan(done.fence());
    }

    @Test
    void it_ends_all_readers_and_a_lease_that_is_held_at_least_for_a_time() {
        held(reader());
        held(reader());
        expireLease(held(reader()));
        assertThat(backend().forceRelease(KEY).released()).hasSize(2);
        granted(writer());
        backend().forceRelease(KEY);

        AcquireRequest early = held(writer());
        backend().releaseAfter(early.keyedLockId(), Duration.ofMinutes(5));
        assertThat(backend().forceRelease(KEY).released()).hasSize(1);
        granted(writer());
    }

    @Test
    void without_a_live_lease_it_changes_nothing() {
        assertThat(backend().forceRelease("never locked")).isEqualTo(ForcedRelease.ofFreeKey("never locked"));
        release(held(writer()));
        long before = store().storedFence(KEY);
        assertThat(backend().forceRelease(KEY)).isEqualTo(ForcedRelease.ofFreeKey(KEY));
        assertThat(store().storedFence(KEY)).isEqualTo(before);
    }

    @Test
    void it_leaves_other_keys_alone() {
        AcquireRequest writer = held(request("order:421", LockMode.EXCLUSIVE, TTL));
        AcquireRequest reader = held(request("order:422", LockMode.SHARED, TTL));
        held(reader());
        backend().forceRelease(KEY);
        held(writer());
        backend().forceRelease(KEY);
        assertThat(backend().lookupById(writer.lockId())).isPresent();
        assertThat(backend().lookupById(reader.lockId())).isPresent();
    }

    @Test
    void it_ends_the_leases_of_a_key_whose_fences_have_run_out() {
        held(writer());
        store().drawnUpTo(KEY, Fence.MAX_VALUE);

        ForcedRelease done = backend().forceRelease(KEY);

        assertThat(done.released()).hasSize(1);
        assertThat(done.fence()).isNull();

        assertThat(backend().isLocked(KEY)).isFalse();
    }

    @Test
    void a_grant_that_is_named_ends_alone() {
        granted(reader());
        AcquireRequest hangs = reader();
        Fence seen = granted(hangs).fence();
        Fence last = granted(reader()).fence();

        ForcedRelease done = backend().forceRelease(KEY, seen);

        assertThat(done.released()).extracting(LockInfo::fence).containsExactly(seen);
        assertThat(done.remaining()).hasSize(2).extracting(LockInfo::fence).contains(last);
        assertThat(done.fence()).isGreaterThan(last);
        assertThat(extend(hangs, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().lookup(KEY)).hasSize(2);
    }

    @Test
    void a_grant_that_is_over_does_not_end_the_next_one() {
        AcquireRequest hung = writer();
        Fence seen = granted(hung).fence();
        release(hung);
        AcquireResult.Granted healthy = granted(elsewhere(), writer());
        long before = store().storedFence(KEY);

        ForcedRelease done = backend().forceRelease(KEY, seen);

        assertThat(done.released()).isEmpty();
        assertThat(done.remaining()).extracting(LockInfo::fence).containsExactly(healthy.fence());
        assertThat(done.fence()).isNull();
        assertThat(backend().isLocked(KEY)).isTrue();
        assertThat(store().storedFence(KEY)).isEqualTo(before);
        assertThat(backend().forceRelease(KEY, healthy.fence()).released()).hasSize(1);
        assertThat(backend().forceRelease(KEY, healthy.fence())).isEqualTo(ForcedRelease.ofFreeKey(KEY));
    }

    @Test
    void a_grant_that_has_lapsed_is_over() {
        AcquireRequest lapsed = writer();
        Fence seen = granted(lapsed).fence();
        expireLease(lapsed);

        assertThat(backend().forceRelease(KEY, seen)).isEqualTo(ForcedRelease.ofFreeKey(KEY));
    }

    @Test
    void queue_entries_stay() {
        held(writer());
        queuedWriter();
        queuedReader();

        backend().forceRelease(KEY);

        assertThat(backend().status(KEY).orElseThrow().waiters()).isEqualTo(2);
    }

    @Test
    void those_who_wait_go_on() throws Exception {
        LockRequest request = LockRequest.of(KEY).noHeartbeat().waitTime(Duration.ofMinutes(1));
        try (LockEngine holder = engine();
                LockEngine waiter = engine()) {
            LockHandle hangs = holder.acquire(request);
            FutureTask<LockHandle> next = new FutureTask<>(() -> waiter.acquire(request));
            new Thread(next).start();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> backend().status(KEY).orElseThrow().waiters() == 1);

            ForcedRelease done = waiter.admin().forceRelease(KEY, "a test");

            LockHandle granted = next.get(30, TimeUnit.SECONDS);
            assertThat(granted.fence()).isGreaterThan(done.fence());
            assertThat(hangs.extend(TTL)).isFalse();
            assertThat(granted.release()).isTrue();
        }
    }

    @Test
    void the_holder_is_told_in_this_process_and_finds_its_lease_gone_in_another_one() {
        LockRequest request = LockRequest.of(KEY).noHeartbeat();
        try (LockEngine here = engine();
                LockEngine elsewhere = engine()) {
            LockHandle own = here.acquire(request);
            here.admin().forceRelease(KEY, "a test");
            LockHandle other = elsewhere.acquire(request);
            here.admin().forceRelease(KEY, "a test");

            assertThat(own.loss()).isNotNull().extracting("reason").isEqualTo(LockReason.RELEASED_BY_FORCE);
            assertThat(other.extend(TTL)).isFalse();
            assertThat(other.loss()).isNotNull().extracting("reason").isEqualTo(LockReason.NOT_FOUND);
        }
    }

    @Test
    void a_holder_that_was_granted_the_key_meanwhile_keeps_it_and_the_caller_learns_who_it_is() {
        LockRequest request = LockRequest.of(KEY).noHeartbeat();
        try (LockEngine here = engine();
                LockEngine elsewhere = engine()) {
            LockHandle hung = here.acquire(request);
            hung.release();
            LockHandle healthy = elsewhere.acquire(request);

            ForcedRelease done = here.admin().forceRelease(KEY, hung.fence(), "a test");

            assertThat(done.released()).isEmpty();
            assertThat(done.remaining()).extracting(LockInfo::fence).containsExactly(healthy.fence());
            assertThat(healthy.extend(TTL)).isTrue();
        }
    }

    private LockEngine engine() {
        return new LockEngine(store().newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
    }
}
