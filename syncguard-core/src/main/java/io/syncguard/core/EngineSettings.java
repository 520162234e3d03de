package io.syncguard.core;

import io.syncguard.IllegalKeyException;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockRequest;
import io.syncguard.LockSettings;
import io.syncguard.LockSetupException;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.StoreProbe;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Settings of the engine.
 *
 * @param owner the label of this process in the lock table, which lookups show
 * @param ttl for requests that name none
 * @param waitTime for requests that name none
 * @param firstRetry while wake-ups do not arrive, the longest pause before the first poll of a waiter; it doubles with
 *     each poll
 * @param longestRetry the longest of these pauses
 * @param shutdownTimeout how long {@link LockEngine#close} waits for bodies to end before it releases their locks
 * @param leakDetectionThreshold how long a lock may be held without a body before it is reported; zero never reports
 *     one
 * @param locks by name, the settings that replace parts of requests
 */
public record EngineSettings(
        String owner,
        Duration ttl,
        Duration waitTime,
        Duration firstRetry,
        Duration longestRetry,
        Duration shutdownTimeout,
        Duration leakDetectionThreshold,
        Map<String, LockSettings> locks) {

    /** The first pause at most: some round trips, so that a short hold costs its waiter little. */
    public static final Duration FIRST_RETRY = Duration.ofMillis(20);

    /** The longest pause: two polls per second and waiter, which is half a second late at most. */
    public static final Duration LONGEST_RETRY = Duration.ofMillis(500);

    public EngineSettings {
        locks = Map.copyOf(locks);
        try {
            LockLimits.owner(owner);
        } catch (LockException ex) {
            throw LockSetupException.at("syncguard.owner", ex);
        }
        check("syncguard.ttl", ttl, LockLimits::ttl);
        check("syncguard.wait-time", waitTime, LockLimits::time);
        check("syncguard.shutdown-timeout", shutdownTimeout, LockLimits::time);
        check("syncguard.leak-detection-threshold", leakDetectionThreshold, LockLimits::time);
    }

    private static void check(String property, Duration value, BiFunction<String, Duration, Duration> limits) {
        try {
            limits.apply(property, value);
        } catch (LockException ex) {
            throw LockSetupException.invalid(String.valueOf(ex.getMessage()), "Correct " + property);
        }
    }

    /** The request with the settings of its name. Every request of the application passes here, and only here. */
    LockRequest configured(LockRequest request) {
        requireUnreserved(request);
        LockSettings own = locks.isEmpty() ? null : locks.get(request.name());
        return own == null ? request : own.applyTo(request, ttl);
    }

    Duration ttl(LockRequest request) {
        return request.ttl() == null ? ttl : request.ttl();
    }

    Duration waitTime(LockRequest request) {
        return request.waitTime() == null ? waitTime : request.waitTime();
    }

    /** The label under which the store has this request. */
    String owner(LockRequest request) {
        return request.owner() == null ? owner : request.owner();
    }

    /**
     * One attempt that does not queue, with the defaults for what the request leaves open.
     *
     * @param waiterTtl how long the first lease of a hand-over lives
     */
    AcquireRequest attempt(LockRequest request, String lockId, Duration waiterTtl) {
        Duration leaseTtl = ttl(request);
        if (request.heartbeatInterval() != null) {
            requireHeartbeat(request.key(), request.heartbeatInterval(), leaseTtl);
        }
        // The first lease of a hand-over is short: an extension has to follow, and must not shorten it.
        boolean handOver = request.heartbeat() && leaseTtl.compareTo(waiterTtl) >= 0;
        return new AcquireRequest(
                request.key(), lockId, AcquireOptions.of(request, leaseTtl, owner(request), handOver));
    }

    /**
     * A key may come from a client, who must not lead or stop an election. A name is one of few, and never made from
     * data.
     */
    private static void requireUnreserved(LockRequest request) {
        if (request.key().startsWith(StoreProbe.KEY)) {
            throw new IllegalKeyException("Keys that begin with '" + StoreProbe.KEY
                    + "' belong to the health check, so '" + request.key() + "' is refused. Choose another key");
        }
        String prefix = LockLimits.ELECTION_PREFIX;
        if (request.key().startsWith(prefix) && !request.name().startsWith(prefix)) {
            throw new IllegalKeyException("Keys that begin with '" + prefix + "' belong to elections, so '"
                    + request.key() + "' is refused. Put another name in front of keys that come from data:"
                    + " @DistributedLock(name = \"order\", key = \"#id\"), LockRequest.of(\"order\", id)");
        }
    }

    private static void requireHeartbeat(String key, Duration interval, Duration ttl) {
        try {
            LockLimits.heartbeat(interval, ttl);
        } catch (LockException ex) {
            throw new LockException(ex.code(), "Lock '" + key + "': " + ex.getMessage());
        }
    }
}
