package io.syncguard.core;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import java.time.Duration;

/**
 * What the engine is set to.
 *
 * @param owner the label of this process in the lock table, for people
 * @param ttl for requests that name none
 * @param waitTime for requests that name none
 * @param firstRetry while wake-ups do not arrive, the longest pause before a waiter is looked at first; it doubles each time
 * @param longestRetry the longest of these pauses
 * @param shutdownTimeout how long {@link LockEngine#close} waits for bodies to end before it releases their locks
 */
public record EngineSettings(
        String owner,
        Duration ttl,
        Duration waitTime,
        Duration firstRetry,
        Duration longestRetry,
        Duration shutdownTimeout) {

    public EngineSettings {
        LockLimits.ttl(ttl);
        LockLimits.time("wait time", waitTime);
        LockLimits.time("shutdown timeout", shutdownTimeout);
        LockLimits.time("longest retry delay", longestRetry);
        if (firstRetry.compareTo(Duration.ofMillis(1)) < 0 || longestRetry.compareTo(firstRetry) < 0) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.retry.first-delay is at least 1 ms and at most max-delay, not " + firstRetry + " and "
                            + longestRetry);
        }
    }

    /** The defaults of {@code syncguard.*}. */
    public static EngineSettings defaults(String owner) {
        return new EngineSettings(
                owner,
                Duration.ofSeconds(30),
                Duration.ofSeconds(5),
                Duration.ofMillis(20),
                Duration.ofMillis(500),
                Duration.ofSeconds(10));
    }
}
