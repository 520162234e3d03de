package io.syncguard.redis;

import io.syncguard.concurrent.Time;
import java.util.concurrent.TimeUnit;

/** Pauses between the steps of a list, to leave the server time for locks. Thread-safe. */
final class RedisPace {

    /**
     * The pause after a step, as a multiple of the step's duration. A list thus takes at most a twentieth of the
     * server's time.
     */
    private static final int REST = 19;

    /** The longest pause. A step that would need a longer one has mostly waited. */
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
     * @param nanos the duration of the step
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
