package io.syncguard.core;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;

/**
 * Settings of the engine.
 *
 * @param owner the label of this process in the lock table, for people
 * @param ttl for requests that name none
 * @param waitTime for requests that name none
 * @param firstRetry while wake-ups do not arrive, the longest pause before the first poll of a waiter; it doubles with
 *     each poll
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

    Duration waitTime(LockRequest request) {
        return request.waitTime() == null ? waitTime : request.waitTime();
    }

    /**
     * One attempt that does not queue, with the defaults for what the request leaves open.
     *
     * @param waiterTtl how long the first lease of a hand-over lives
     */
    AcquireRequest attempt(LockRequest request, String lockId, Duration waiterTtl) {
        Duration leaseTtl = request.ttl() == null ? ttl : request.ttl();
        if (request.heartbeatInterval() != null) {
            LockLimits.heartbeat(request.heartbeatInterval(), leaseTtl);
        }
        // The first lease of a hand-over is short: an extension has to follow, and must not shorten it.
        boolean handOver =
                request.mode() == LockMode.EXCLUSIVE && request.heartbeat() && leaseTtl.compareTo(waiterTtl) >= 0;
        return new AcquireRequest(
                request.key(),
                request.mode(),
                lockId,
                leaseTtl,
                request.owner() == null ? owner : request.owner(),
                handOver,
                false,
                null);
    }
}
