package io.syncguard.portable;

import io.syncguard.spi.FenceSource;
import java.time.Duration;

/**
 * The settings of a store.
 *
 * @param timeout maximum wait for a connection, and maximum wait for an answer of the server
 * @param waiterTtl how long a queue entry lives unless it is renewed
 * @param cleanupInterval how often lapsed leases are deleted; zero for never
 * @param fences how fences are drawn
 */
public record PortableSettings(Duration timeout, Duration waiterTtl, Duration cleanupInterval, FenceSource fences) {

    /** Maximum time for which a dead waiter delays those behind it: five seconds. */
    public static final Duration WAITER_TTL = Duration.ofSeconds(5);
}
