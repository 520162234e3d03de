package io.syncguard.core;

import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import java.time.Duration;

/** The store of a contract test, which the test can read and change without its backends. It provides itself. */
public interface ContractStore extends ContractStoreProvider {

    /** Creates a backend on this store, like that of another process. */
    LockBackend newBackend();

    /** Ends a lease and its tolerance now, without sleeping. */
    void expireLease(String lockId);

    /** Ends all leases of the key, and their tolerance, in the same way. */
    void expire(String key);

    /** Lets a queue entry end after this time. */
    void endQueueEntryIn(String lockId, Duration left);

    /** Sets the counter as if this number of fences had been drawn for the key. */
    void drawnUpTo(String key, long fence);

    /** The source of the fences. */
    FenceSource fences();

    /** The clock of the store. */
    long clockMillis();

    /** The fence counter of the key, zero if there is none. */
    long storedFence(String key);
}
