package io.syncguard.benchmarks;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The rate of a load, and the latencies of its work.
 *
 * @param latencies in nanoseconds, each with an error of 1 % at most
 * @param seconds from the first beginning to the last end
 */
record Pace(Histogram latencies, double seconds) {

    /** Significant digits. With two of them a histogram is small enough for each of 500 threads. */
    private static final int DIGITS = 2;

    /** Creates a histogram for the latencies of one thread. */
    static Histogram emptyHistogram() {
        return new Histogram(DIGITS);
    }

    /** Merges the latencies of all threads. */
    static Pace of(List<Histogram> latencies, long nanos) {
        Histogram sum = emptyHistogram();
        latencies.forEach(sum::add);
        return new Pace(sum, nanos / 1e9);
    }

    /** The number of repetitions of the work. */
    long count() {
        return latencies.getTotalCount();
    }

    double perSecond() {
        return count() / seconds;
    }

    /** The latency that this percentage did not exceed, in milliseconds. */
    double percentile(double percent) {
        return latencies.getValueAtPercentile(percent) / 1e6;
    }

    /** The longest, in milliseconds. */
    double max() {
        return latencies.getMaxValue() / 1e6;
    }
}
