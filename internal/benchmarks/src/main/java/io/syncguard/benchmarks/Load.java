package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * A number of threads that repeat the same work at the same time.
 *
 * @param virtual whether the threads are virtual, which some JDKs do not support
 */
record Load(int threads, boolean virtual) {

    /** The measured work. It receives the number of the thread and how often this thread has done it before. */
    @FunctionalInterface
    interface Work {
        void run(int thread, long count) throws Exception;
    }

    static Load of(int threads) {
        return new Load(threads, false);
    }

    /** A name for people. */
    String label() {
        return threads + (virtual ? " virtual" : "") + (threads == 1 ? " thread" : " threads");
    }

    /** Whether this JDK supports the threads. */
    boolean isPossible() {
        return !virtual || VirtualThreads.areThere();
    }

    /** Runs the work in all threads. Each does it at least once, and does not begin it again after the time is over. */
    Pace run(Duration duration, Work work) throws Exception {
        ExecutorService executor = virtual ? VirtualThreads.executor() : Executors.newFixedThreadPool(threads);
        try {
            long began = System.nanoTime();
            long end = began + duration.toNanos();
            List<Future<Histogram>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                running.add(executor.submit(() -> repeat(work, number, end)));
            }
            List<Histogram> latencies = new ArrayList<>();
            for (Future<Histogram> each : running) {
                latencies.add(each.get());
            }
            return Pace.of(latencies, System.nanoTime() - began);
        } finally {
            executor.shutdown();
        }
    }

    private static Histogram repeat(Work work, int thread, long end) throws Exception {
        Histogram latencies = Pace.emptyHistogram();
        long before = System.nanoTime();
        for (long count = 0; count == 0 || before - end < 0; count++) {
            work.run(thread, count);
            long after = System.nanoTime();
            latencies.recordValue(after - before);
            before = after;
        }
        return latencies;
    }
}
