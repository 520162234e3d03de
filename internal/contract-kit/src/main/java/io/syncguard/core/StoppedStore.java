package io.syncguard.core;

import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import java.time.Duration;

/**
 * A store whose clock stands still unless the test moves it, so that the answers of its backends depend on the requests
 * alone.
 */
public interface StoppedStore extends AutoCloseable {

    /** The ttl of a queue entry in this store. */
    Duration WAITER_TTL = Duration.ofMinutes(1);

    /** The source of the fences. */
    FenceSource fences();

    /** Creates a backend on this store, like that of another process. */
    LockBackend newBackend();

    /** Moves the clock by this time, to the millisecond. Everything that ends meanwhile lapses. */
    void moveClock(Duration by);

    /**
     * Deletes leases and queue entries of the key that lapsed long ago, as a backend or its server does by itself
     * sooner or later.
     */
    void sweep(String key);

    /** Deletes the fence counter of the key, as if the store had lost it. */
    void loseCounter(String key);

    @Override
    void close();
}
