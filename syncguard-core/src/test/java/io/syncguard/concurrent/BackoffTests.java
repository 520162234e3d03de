package io.syncguard.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BackoffTests {

    private static final Duration FIRST = Duration.ofMillis(250);
    private static final Duration LONGEST = Duration.ofSeconds(8);

    private final Backoff exact = Backoff.doubling(FIRST, LONGEST);
    private final Backoff random = exact.withJitter();

    @Test
    void there_is_no_pause_before_the_first_attempt() {
        assertThat(exact.pauseNanos(0)).isZero();
        assertThat(random.pauseNanos(0)).isZero();
    }

    @Test
    void each_pause_is_twice_the_one_before_until_the_longest() {
        LongStream pauses = IntStream.rangeClosed(1, 8)
                .mapToLong(exact::pauseNanos)
                .map(nanos -> Duration.ofNanos(nanos).toMillis());

        assertThat(pauses).containsExactly(250L, 500L, 1000L, 2000L, 4000L, 8000L, 8000L, 8000L);
    }

    @Test
    void the_longest_pause_need_not_be_a_double_of_the_first() {
        Backoff odd = Backoff.doubling(Duration.ofMillis(100), Duration.ofMillis(350));

        assertThat(odd.pauseNanos(2)).isEqualTo(Duration.ofMillis(200).toNanos());
        assertThat(odd.pauseNanos(3)).isEqualTo(Duration.ofMillis(350).toNanos());
    }

    @Test
    void a_pause_stays_the_longest_however_often_attempts_fail() {
        Backoff centuries = Backoff.doubling(Duration.ofNanos(1), Duration.ofNanos(Long.MAX_VALUE));

        assertThat(exact.pauseNanos(Integer.MAX_VALUE)).isEqualTo(LONGEST.toNanos());
        assertThat(centuries.pauseNanos(63)).isEqualTo(1L << 62);
        assertThat(centuries.withJitter().pauseNanos(Integer.MAX_VALUE)).isPositive();
        assertThat(IntStream.of(64, 65, 66, 100).mapToLong(exact::pauseNanos)).containsOnly(LONGEST.toNanos());
    }

    @Test
    void with_jitter_the_upper_half_of_a_pause_is_random() {
        long longest = Duration.ofSeconds(1).toNanos();

        LongStream pauses = IntStream.range(0, 1000).mapToLong(unused -> random.pauseNanos(3));

        assertThat(pauses.boxed())
                .allSatisfy(pause -> assertThat(pause).isBetween(longest / 2, longest))
                .anySatisfy(pause -> assertThat(pause).isLessThan(longest * 6 / 10))
                .anySatisfy(pause -> assertThat(pause).isGreaterThan(longest * 9 / 10));
    }

    @Test
    void pauses_are_positive_and_grow() {
        assertThatIllegalArgumentException().isThrownBy(() -> Backoff.doubling(Duration.ZERO, LONGEST));
        assertThatIllegalArgumentException().isThrownBy(() -> Backoff.doubling(LONGEST, FIRST));
    }
}
