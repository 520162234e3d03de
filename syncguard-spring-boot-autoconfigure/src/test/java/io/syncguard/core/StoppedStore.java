package io.syncguard.core;

import io.syncguard.spi.LockBackend;
import java.time.Duration;

/**
 * A store whose clock stands still unless it is moved, so that what its backends answer depends on what they are asked
 * alone.
 */
public interface StoppedStore extends AutoCloseable {

    /** How long a queue entry is kept there. */
    Duration WAITER_TTL = Duration.ofMinutes(1);

    /** A backend on this store, as one more process would have it. */
    LockBackend newBackend();

    /** Has so much time pass, to the millisecond, and all end that ends in it. */
    void moveClock(Duration by);

    /**
     * Clears away what of the key has been over for long, as a backend or its server does by itself sooner or later.
     */
    void sweep(String key);

    @Override
    void close();
}
