package io.syncguard.spi;

import io.syncguard.BackendInfo;
import java.time.Duration;

/**
 * Facts about a store. They do not change.
 *
 * @param backend what applications see of it
 * @param timeout the network timeout: how long an answer takes at most
 * @param waiterTtl how long a queue entry lives unless it is renewed, and the first lease of a hand-over
 * @param inDoubtPeriod how long a server that answers may still grant an acquire request without an answer. The engine
 *     repeats its release until the server answers a release that was sent after this period, or until the ttl of such
 *     a lease is over. An error begins the period again
 * @param servers how many servers have keys, from 1
 * @param batching how requests of different callers share a list
 */
public record StoreInfo(
        BackendInfo backend,
        Duration timeout,
        Duration waiterTtl,
        Duration inDoubtPeriod,
        int servers,
        Batching batching) {

    /** 100 ms: TCP repeats a lost packet after 200 ms, and a shorter timeout would fail for nothing. */
    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);

    /** The name in meters, such as {@code postgres}. */
    public String name() {
        return backend.name();
    }

    /**
     * The timeout of a request that concerns a lease with this ttl: less than a third of the ttl, so that a heartbeat
     * has time for a second attempt.
     */
    public Duration timeout(Duration ttl) {
        return timeout(timeout, ttl);
    }

    /** The timeout of a request that concerns a lease with this ttl, for a store that has no facts yet. */
    public static Duration timeout(Duration timeout, Duration ttl) {
        long millis = Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1);
        return Duration.ofMillis(Math.max(SHORTEST_TIMEOUT.toMillis(), millis));
    }
}
