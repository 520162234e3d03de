package io.syncguard.core;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Releases handles, but not before the transactions have ended in which they were acquired or released: the next holder
 * must see what was written under them. Until then a request for the same key by a thread in such a transaction joins
 * the handle. Otherwise the thread would wait for itself.
 */
final class TransactionReleaser {

    private final TransactionBoundary transactions;
    private final LockReleaser releaser;

    /**
     * By the thread in whose transaction a handle was acquired or released, one entry for each of the two. That thread
     * adds the entry. The thread that ends the transaction, which may be another one, removes it: a pooled thread must
     * not retain it.
     */
    private final ConcurrentMap<Thread, Collection<LeaseHandle>> handles = new ConcurrentHashMap<>();

    TransactionReleaser(TransactionBoundary transactions, LockReleaser releaser) {
        this.transactions = transactions;
        this.releaser = releaser;
    }

    /** Makes a release of the handle wait for the end of the running transaction, if there is one. */
    void deferReleaseToTransactionEnd(LeaseHandle handle) {
        Thread thread = Thread.currentThread();
        GuardedLease lease = GuardedLease.of(handle);
        if (transactions.atEnd(lease, () -> transactionEnded(thread, handle))) {
            handle.deferredRelease().transactionBegan();
            handles.compute(thread, (same, ofThread) -> with(handle, ofThread));
        }
    }

    /**
     * Releases the handle, at once or at the end of the last transaction.
     *
     * @return whether it was held until now
     */
    boolean release(LeaseHandle handle) {
        DeferredRelease deferred = handle.deferredRelease();
        if (deferred.isPending()) {
            return false;
        }
        if (!handle.isHeld()) {
            return releaser.release(handle.lease());
        }
        deferReleaseToTransactionEnd(handle);
        return switch (deferred.release()) {
            case SEND -> releaser.release(handle.lease());
            case DEFERRED -> true;
            case REPEATED -> false;
        };
    }

    /** The handles whose release waits for the end of a transaction of the running thread. */
    List<LeaseHandle> pending() {
        Collection<LeaseHandle> ofThread = handles.get(Thread.currentThread());
        return ofThread == null
                ? List.of()
                : ofThread.stream()
                        .filter(handle -> handle.deferredRelease().isPending())
                        .toList();
    }

    TransactionBoundary transactions() {
        return transactions;
    }

    private static Collection<LeaseHandle> with(LeaseHandle handle, @Nullable Collection<LeaseHandle> ofThread) {
        Collection<LeaseHandle> all = ofThread == null ? new ConcurrentLinkedQueue<>() : ofThread;
        all.add(handle);
        return all;
    }

    private void transactionEnded(Thread thread, LeaseHandle handle) {
        handles.computeIfPresent(thread, (same, ofThread) -> {
            ofThread.remove(handle);
            return ofThread.isEmpty() ? null : ofThread;
        });
        if (handle.deferredRelease().transactionEnded()) {
            releaser.release(handle.lease());
        }
    }
}
