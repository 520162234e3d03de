package io.syncguard.core;

import io.syncguard.spi.LockBackend;
import java.time.Duration;

/** A store under the contracts, which can be looked at and changed behind the back of its backends. */
public interface ContractStore {

    /** A backend on this store, as one more process would have it. */
    LockBackend newBackend();

    /** Ends a lease and its tolerance now, without sleeping. */
    void expireLease(String lockId);

    /** Has a queue entry end so long from now. */
    void endPlaceIn(String lockId, Duration left);

    /** As if so many fences had been drawn for the key, of which some have been. */
    void drawnUpTo(String key, long fence);

    /** The fence counter of the key, zero if there is none. */
    long storedFence(String key);
}
