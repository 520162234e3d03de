package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A warning is logged when the fences of a key run short, and not too often. */
class FenceWarningTests {

    private static final long LIMIT = 810_000_000_000_000L;

    private final EngineFixture fixture = new EngineFixture();
    private final CapturedLog log = new CapturedLog();

    @AfterEach
    void close() {
        log.close();
        fixture.close();
    }

    @Test
    void a_fence_above_the_limit_is_warned_of_and_one_at_the_limit_is_not() {
        fixture.store.drawnUpTo("order:42", LIMIT - 1);

        acquireAndRelease("order:42");
        assertThat(log.messages()).isEmpty();

        acquireAndRelease("order:42");
        assertThat(log.messages())
                .containsExactly(
                        "The fence counter of lock 'order:42' is at 810000000000001 and ends at 900000000000000");
    }

    /** The year in docs/fencing.md. */
    @Test
    void fences_by_the_clock_reach_the_limit_in_2226_and_their_end_in_2255() {
        assertThat(yearOf(LIMIT)).isEqualTo(2226);
        assertThat(yearOf(Fence.MAX_VALUE)).isEqualTo(2255);
    }

    private static int yearOf(long fence) {
        return Instant.ofEpochMilli(fence / 100).atZone(ZoneOffset.UTC).getYear();
    }

    @Test
    void there_is_one_warning_a_minute_for_all_keys_together() {
        fixture.store.drawnUpTo("a", LIMIT);
        fixture.store.drawnUpTo("b", LIMIT);

        acquireAndRelease("a");
        acquireAndRelease("b");
        fixture.time.advance(Duration.ofMinutes(1).minusNanos(1));
        acquireAndRelease("a");
        assertThat(log.messages()).hasSize(1);

        fixture.time.advance(Duration.ofNanos(1));
        acquireAndRelease("b");
        acquireAndRelease("a");
        assertThat(log.messages()).hasSize(2);
    }

    @Test
    void a_fence_that_a_holder_takes_is_warned_of_as_well() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of("order:42"));
        fixture.store.drawnUpTo("order:42", LIMIT);

        lock.rotateFence();

        assertThat(log.messages())
                .containsExactly(
                        "The fence counter of lock 'order:42' is at 810000000000001 and ends at 900000000000000");
    }

    private void acquireAndRelease(String key) {
        fixture.engine.acquire(LockRequest.of(key)).release();
    }
}
