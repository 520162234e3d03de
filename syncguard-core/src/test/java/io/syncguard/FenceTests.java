package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Which fences a store can have granted by a given time. */
class FenceTests {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void fences_of_counters_and_of_the_clock_are_possible() {
        assertThat(new Fence(1).isPossibleAt(NOW)).isTrue();
        assertThat(new Fence(NOW.toEpochMilli() * 100).isPossibleAt(NOW)).isTrue();
    }

    @Test
    void clocks_may_differ_by_a_day() {
        long tomorrow = NOW.plus(Duration.ofDays(1)).toEpochMilli() * 100;

        assertThat(new Fence(tomorrow).isPossibleAt(NOW)).isTrue();
        assertThat(new Fence(tomorrow + 1).isPossibleAt(NOW)).isFalse();
    }

    @Test
    void the_largest_fence_is_not_possible_in_our_days() {
        assertThat(new Fence(Fence.MAX_VALUE).isPossibleAt(NOW)).isFalse();
    }
}
