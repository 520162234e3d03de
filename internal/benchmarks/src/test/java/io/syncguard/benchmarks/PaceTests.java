package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shows that the latencies of all threads are counted, and that percentiles are those of a sorted list. */
class PaceTests {

    /** From a microsecond to ten seconds, as many in each power of ten. */
    private final long[] nanos = new Random(16)
            .doubles(10_000)
            .mapToLong(random -> (long) Math.pow(10, 3 + 7 * random))
            .toArray();

    @ParameterizedTest
    @ValueSource(doubles = {1, 50, 90, 99, 99.9, 100})
    void percentiles_are_those_of_a_sorted_list(double percent) {
        long[] sorted = LongStream.of(nanos).sorted().toArray();
        int index = (int) Math.ceil(percent / 100 * sorted.length) - 1;

        assertThat(pace().percentile(percent)).isCloseTo(sorted[index] / 1e6, withinPercentage(1));
    }

    @Test
    void the_maximum_is_that_of_all_threads() {
        double max = LongStream.of(nanos).max().orElseThrow() / 1e6;

        assertThat(pace().max()).isCloseTo(max, withinPercentage(1));
    }

    @Test
    void the_rate_counts_all_threads() {
        assertThat(pace().count()).isEqualTo(10_000);
        assertThat(pace().perSecond()).isEqualTo(5_000);
    }

    /** Latencies as 16 threads would have recorded them in two seconds. */
    private Pace pace() {
        List<Histogram> threads =
                IntStream.range(0, 16).mapToObj(thread -> Pace.emptyHistogram()).toList();
        for (int pair = 0; pair < nanos.length; pair++) {
            threads.get(pair % threads.size()).recordValue(nanos[pair]);
        }
        return Pace.of(threads, 2_000_000_000);
    }
}
