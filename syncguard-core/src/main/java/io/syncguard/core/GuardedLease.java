package io.syncguard.core;

import io.syncguard.CommitGuard;
import io.syncguard.LockLostException;
import org.jspecify.annotations.Nullable;

/** A lease, as a transaction sees it that commits under it. Thread-safe. */
public interface GuardedLease {

    /** The transactions that its engine sees. */
    TransactionBoundary transactions();

    String key();

    String lockId();

    /** Never {@link CommitGuard#DEFAULT}. */
    CommitGuard guard();

    /** @throws LockLostException unless it is held, by the local deadline */
    void requireHeld();

    /** Ends it as lost: the server does not know it any more. */
    LockLostException lost(String explanation);

    /**
     * A transaction that had pinned it has committed. It was held after the pin, so a loss until now does not concern
     * what was written.
     */
    void committed();

    /**
     * The loss that only the release after the transaction has found. The holder had released the handle before, and
     * was told that it held the lock.
     */
    @Nullable
    LockLostException unreportedLoss();

    /** Returns this view of the lease or another one: the one with the stricter guard. */
    default GuardedLease stricter(GuardedLease other) {
        return guard().compareTo(other.guard()) >= 0 ? this : other;
    }
}
