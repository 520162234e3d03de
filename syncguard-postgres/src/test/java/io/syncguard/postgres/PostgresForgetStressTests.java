package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.FenceSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two processes lock and release a few keys, and each counter is forgotten as soon as it is idle for a millisecond: the
 * keys have one holder, or readers together, and their fences grow.
 */
@Tag("verification")
class PostgresForgetStressTests {

    private static final int THREADS = 8;
    private static final int ROUNDS = 150;
    private static final int KEYS = 4;

    private final Key[] keys =
            IntStream.range(0, KEYS).mapToObj(number -> new Key()).toArray(Key[]::new);

    @Test
    void counters_are_forgotten_all_the_time() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
        AtomicBoolean done = new AtomicBoolean();
        try (PostgresContractStore store = new PostgresContractStore(PostgresBatching.ALWAYS, FenceSource.CLOCK);
                LockEngine here = newEngine(store);
                LockEngine there = newEngine(store)) {
            Future<Long> forgotten = threads.submit(() -> forget(store, done));
            List<Callable<Long>> callers = IntStream.range(0, THREADS)
                    .<Callable<Long>>mapToObj(i -> () -> lock(new LockTemplate(i % 2 == 0 ? here : there)))
                    .toList();
            long locked = 0;
            for (Future<Long> caller : threads.invokeAll(callers)) {
                locked += caller.get();
            }
            done.set(true);

            assertThat(locked).isEqualTo((long) THREADS * ROUNDS);
            assertThat(forgotten.get()).isPositive();
        } finally {
            done.set(true);
            threads.shutdownNow();
        }
    }

    /** Returns how often a counter was forgotten. */
    private static long forget(PostgresContractStore store, AtomicBoolean done) {
        long forgotten = 0;
        while (!done.get()) {
            long before = counters(store);
            store.jdbc().queryForObject("SELECT syncguard_locks_forget('', 0)", String.class);
            forgotten += Math.max(0, before - counters(store));
        }
        return forgotten;
    }

    private static long counters(PostgresContractStore store) {
        return store.jdbc().queryForObject("SELECT count(*) FROM syncguard_fence_counters", Long.class);
    }

    private long lock(LockTemplate locks) {
        long locked = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int number = ThreadLocalRandom.current().nextInt(KEYS);
            LockRequest request = LockRequest.of("k" + number).waitTime(Duration.ofMinutes(1));
            if (ThreadLocalRandom.current().nextInt(3) == 0) {
                locks.executeWithoutResult(
                        request.shared(), lock -> keys[number].read(lock.fence().value()));
            } else {
                locks.executeWithoutResult(
                        request, lock -> keys[number].write(lock.fence().value()));
            }
            locked++;
        }
        return locked;
    }

    private static LockEngine newEngine(PostgresContractStore store) {
        return new LockEngine(store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
    }

    /** What the locks of a key protect. */
    private static final class Key {

        private final AtomicLong readers = new AtomicLong();
        private final AtomicLong writers = new AtomicLong();
        private final AtomicLong largest = new AtomicLong();
        private final AtomicLong lastWritten = new AtomicLong();

        void write(long fence) {
            assertThat(writers.incrementAndGet()).as("writers").isEqualTo(1);
            assertThat(readers).as("readers beside a writer").hasValue(0);
            assertThat(largest.getAndSet(fence)).isLessThan(fence);
            lastWritten.set(fence);
            Thread.yield();
            writers.decrementAndGet();
        }

        /** Readers that enter together may be in any order. */
        void read(long fence) {
            readers.incrementAndGet();
            assertThat(writers).as("writers beside a reader").hasValue(0);
            assertThat(lastWritten.get()).isLessThan(fence);
            largest.accumulateAndGet(fence, Math::max);
            Thread.yield();
            readers.decrementAndGet();
        }
    }
}
