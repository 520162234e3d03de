package io.syncguard.core;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The holds that were acquired or given back inside a transaction that is still open. Those that were given back are
 * released when it has ended: the next holder must see what was written under them. Until then a request of a thread in
 * that transaction for the same key joins them, or it would wait for itself.
 */
final class DeferredReleases {

    private final TransactionBoundary transactions;
    private final Consumer<Hold> release;

    /**
     * By the thread in whose transaction each was acquired or given back, once for each of the two. Written by that
     * thread, and by the one that ends the transaction, which may be another: nothing may stay behind with a pooled
     * thread.
     */
    private final ConcurrentMap<Thread, Collection<Hold>> holds = new ConcurrentHashMap<>();

    /** @param release sends the release of a hold, on the thread that ends its last transaction */
    DeferredReleases(TransactionBoundary transactions, Consumer<Hold> release) {
        this.transactions = transactions;
        this.release = release;
    }

    /** Keeps the hold until the running transaction has ended, if there is one. */
    void keepUntilEnd(Hold hold) {
        Thread thread = Thread.currentThread();
        if (transactions.atEnd(() -> check(hold), () -> transactionEnded(thread, hold))) {
            hold.deferredRelease().transactionBegan();
            holds.compute(thread, (same, ofThread) -> with(hold, ofThread));
        }
    }

    /** Gives a hold back inside the running transaction, if there is one. A lost one is nothing to wait for. */
    DeferredRelease.Answer giveBack(Hold hold) {
        DeferredRelease deferred = hold.deferredRelease();
        if (deferred.isPending()) {
            return DeferredRelease.Answer.REPEATED;
        }
        if (!hold.isHeld()) {
            return DeferredRelease.Answer.SEND;
        }
        keepUntilEnd(hold);
        return deferred.giveBack();
    }

    /** Those that wait for the end of a transaction of the running thread. */
    List<Hold> pending() {
        Collection<Hold> ofThread = holds.get(Thread.currentThread());
        return ofThread == null
                ? List.of()
                : ofThread.stream()
                        .filter(hold -> hold.deferredRelease().isPending())
                        .toList();
    }

    private static Collection<Hold> with(Hold hold, @Nullable Collection<Hold> ofThread) {
        Collection<Hold> all = ofThread == null ? new ConcurrentLinkedQueue<>() : ofThread;
        all.add(hold);
        return all;
    }

    /** What a holder wrote that has lost its lock is rolled back. */
    private static void check(Hold hold) {
        if (hold.deferredRelease().isPending()) {
            hold.requireHeld(hold);
        }
    }

    private void transactionEnded(Thread thread, Hold hold) {
        holds.computeIfPresent(thread, (same, ofThread) -> {
            ofThread.remove(hold);
            return ofThread.isEmpty() ? null : ofThread;
        });
        if (hold.deferredRelease().transactionEnded()) {
            release.accept(hold);
        }
    }
}
