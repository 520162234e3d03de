package io.syncguard.benchmarks;

import java.time.Duration;

/** A contender whose keys have room for several bodies at a time. */
interface PermitContender extends WaitingContender {

    /** How many bodies of one key run at the same time at most. */
    int PERMITS = 8;

    /** Longer than a measurement: some contenders do not extend it. */
    Duration TTL = Duration.ofMinutes(1);

    @Override
    default void await(String key, Runnable body) throws Exception {
        await(key, TTL, body);
    }

    /**
     * Waits for a permit of the key as long as it takes, and runs the body with it.
     *
     * @param ttl for how long the permit of a process that has died is kept from others
     */
    void await(String key, Duration ttl, Runnable body) throws Exception;
}
