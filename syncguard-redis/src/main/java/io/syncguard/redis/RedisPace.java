package io.syncguard.redis;

import io.syncguard.concurrent.Time;
import java.util.concurrent.TimeUnit;

/** Leaves the server time for locks between the steps of a list. Thread-safe. */
final class RedisPace {

    /** The pause after a step, as a multiple of its time. So a list takes a fifth of the server's time at most. */
    private static final int REST = 4;

    /** A step that took longer has mostly waited for the network. */
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
     * @param begun when the step began
     */
    void rest(String doing, long begun) {
        try {
            time.sleep(Math.min(REST * (time.nanoTime() - begun), LONGEST_NANOS));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw RedisErrors.translate(doing, ex);
        }
    }
}
