package io.syncguard.redis;

import io.syncguard.concurrent.Time;
import java.util.concurrent.TimeUnit;

/** Leaves the server time for locks between the steps of a list. Thread-safe. */
final class RedisPace {

    /** The pause after a step, as a multiple of its time. So a list takes a twentieth of the server's time at most. */
    private static final int REST = 19;

    /** The longest pause: a step that took so long has mostly waited. */
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Time time;

    RedisPace(Time time) {
        this.time = time;
    }

    long now() {
        return time.nanoTime();
    }

    /**
     * Pauses after a step.
     *
     * @param nanos which it took
     */
    void rest(String doing, long nanos) {
        try {
            time.sleep(Math.max(0, Math.min(REST * nanos, LONGEST_NANOS)));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw RedisErrors.translate(doing, ex);
        }
    }
}
