package io.syncguard.core;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Binds transactions to handles, and releases a handle when the transactions that are bound to it have ended: the next
 * holder must see what was written under it. Until then a request for the same key by a thread in such a transaction
 * joins the handle. Otherwise the thread would wait for itself.
 */
final class TransactionReleaser {

    private final TransactionBoundary transactions;
    private final LockReleaser releaser;

    /**
     * By the thread whose transaction is bound, one entry for each transaction and handle. That thread adds the entry.
     * The thread that ends the transaction, which may be another one, removes it: a pooled thread must not retain it.
     */
    private final ConcurrentMap<Thread, Collection<LeaseHandle>> handles = new ConcurrentHashMap<>();

    TransactionReleaser(TransactionBoundary transactions, LockReleaser releaser) {
        this.transactions = transactions;
        this.releaser = releaser;
    }

    /** Binds the running transactions, if there are any, to the handle. */
    void bindTransaction(LeaseHandle handle, LockRequest request) {
        Thread thread = Thread.currentThread();
        GuardedLease lease = GuardedLease.of(handle, request);
        for (int bound = transactions.bind(lease, () -> transactionEnded(thread, handle)); bound > 0; bound--) {
            handle.deferredRelease().transactionBegan();
            handles.compute(thread, (same, ofThread) -> with(handle, ofThread));
        }
    }

    /**
     * Releases the handle, at once or at the end of the last transaction. Its first release belongs to the work under
     * it. So that also binds the running transaction, if the lease was lost before, too.
     *
     * @return whether it was held until now
     */
    boolean release(LeaseHandle handle) {
        DeferredRelease.Answer answer;
        try {
            answer = begin(handle);
        } catch (Throwable ex) {
            // No transaction will send the release.
            handle.deferredRelease().release(false);
            releaser.release(handle.lease());
            throw ex;
        }
        return switch (answer) {
            case SEND -> releaser.release(handle.lease());
            case DEFERRED -> true;
            case REPEATED -> false;
        };
    }

    /**
     * Releases the handles of this engine as far as {@link #release} would send each release now, in the reverse order.
     * Closing them afterwards reports the losses, and releases the others: those that fail, and those whose lease was
     * lost while a transaction committed.
     */
    void releaseTogether(List<? extends LockHandle> handles) {
        List<Lease> leases = new ArrayList<>();
        for (int i = handles.size() - 1; i >= 0; i--) {
            if (handles.get(i) instanceof LeaseHandle handle && handle.isOf(this) && isSentNow(handle)) {
                leases.add(handle.lease());
            }
        }
        releaser.release(leases);
    }

    private boolean isSentNow(LeaseHandle handle) {
        try {
            return !handle.bodies().wereCommitted() && begin(handle) == DeferredRelease.Answer.SEND;
        } catch (Throwable ex) {
            // Its own release meets the same failure, and reports it.
            return false;
        }
    }

    /** The first step of a release. */
    private DeferredRelease.Answer begin(LeaseHandle handle) {
        DeferredRelease deferred = handle.deferredRelease();
        if (deferred.isReleased()) {
            return DeferredRelease.Answer.REPEATED;
        }
        bindTransaction(handle, handle.request());
        return deferred.release(handle.isHeld());
    }

    /**
     * Releases a handle whose lease was lost while a transaction committed under it.
     *
     * @return whether the server had the lease until now, so that nobody else was granted the key
     */
    boolean releaseAfterCommit(LeaseHandle handle) {
        return handle.deferredRelease().release(false) == DeferredRelease.Answer.SEND
                && releaser.releaseAfterCommit(handle.lease());
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
