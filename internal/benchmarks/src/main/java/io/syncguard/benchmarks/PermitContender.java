package io.syncguard.benchmarks;

import java.time.Duration;

/** A contender that supports permits: several bodies of one key may run at the same time. */
interface PermitContender extends WaitingContender {

    /** The maximum number of bodies of one key that run at the same time. */
    int PERMITS = 8;

    /** Longer than a measurement, because some contenders do not extend a permit. */
    Duration TTL = Duration.ofMinutes(1);

    @Override
    default void await(String key, Runnable body) throws Exception {
        await(key, TTL, body);
    }

    /**
     * Waits for a permit of the key without a limit, and runs the body with it.
     *
     * @param ttl how long the permit of a dead process stays blocked
     */
    void await(String key, Duration ttl, Runnable body) throws Exception;
}
