package io.syncguard.actuate;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that costs time to make, for any number of readers. It serves for ten times as long as it took, one second at
 * most: what takes microseconds is as good as new, and what takes 0.1 s costs a tenth of a core at most. Thread-safe.
 */
final class Paced<T> {

    private static final int PAUSE = 10;

    private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

    private final Supplier<T> source;
    private final Time time;
    private @Nullable T value;
    private long servesUntil;

    Paced(Supplier<T> source, Time time) {
        this.source = source;
        this.time = time;
    }

    synchronized T get() {
        long begun = time.nanoTime();
        T last = value;
        if (last != null && begun < servesUntil) {
            return last;
        }
        T fresh = source.get();
        long made = time.nanoTime();
        servesUntil = made + Math.min(LONGEST_NANOS, PAUSE * (made - begun));
        value = fresh;
        return fresh;
    }
}
