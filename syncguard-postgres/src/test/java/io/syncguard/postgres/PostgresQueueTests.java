package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.QueueContract;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.OtherSession;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresQueueTests extends QueueContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    @Test
    void a_waiter_whose_turn_comes_when_no_fences_are_left_gets_an_error_and_acquires_nothing() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedReader();
        store.jdbc().update("UPDATE syncguard_fence_counters SET fence = ?", Fence.MAX_VALUE);
        release(holder);

        assertNoFences(first);
        leave(first);
        assertNoFences(second);

        assertThat(backend().isLocked(KEY)).isFalse();
        assertThat(store().storedFence(KEY)).isEqualTo(Fence.MAX_VALUE);
    }

    @Test
    void a_waiter_in_front_of_a_lapsed_row_that_is_pinned_keeps_its_queue_entry_and_draws_no_fence() {
        AcquireRequest holder = held(reader());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        expireLease(holder);
        try (OtherSession other = new OtherSession(store.url())) {
            other.run("SELECT FROM syncguard_locks_shared FOR KEY SHARE");

            assertThat(queued(first).nextLook()).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
            queued(second);
            assertThat(store().storedFence(KEY)).isEqualTo(1);
            other.rollback();
        }

        queued(second);
        granted(first);
    }

    @Test
    void a_lease_that_its_waiter_finds_late_is_acquired_then_and_a_hold_time_counts_from_then() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = queuedWriter();
        release(holder);
        granted(waiter.fromQueue());
        store.jdbc().update("UPDATE syncguard_locks SET acquired_at_ms = acquired_at_ms - 60000");

        granted(waiter.fromQueue());
        backend().releaseAfter(waiter.lockId(), Duration.ofSeconds(30));

        assertThat(backend().isLocked(KEY)).isTrue();
    }

    private void assertNoFences(AcquireRequest request) {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> backend().acquire(request))
                .withMessageContaining("no fences left")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));
    }
}
