package io.syncguard.core;

import io.syncguard.LockHandle;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The threads whose transactions are bound to leases. While a release waits for the end of a transaction, a request for
 * the same key by a thread in this transaction joins the handle. Otherwise the thread would wait for itself.
 * Thread-safe.
 */
final class TransactionThreads {

    /**
     * One entry for each transaction and lease. The thread itself adds the entry. The thread that ends the transaction,
     * which may be another one, removes it: a pooled thread must not retain it.
     */
    private final ConcurrentMap<Thread, Collection<LeaseRelease>> releases = new ConcurrentHashMap<>();

    void add(Thread thread, LeaseRelease release) {
        releases.compute(thread, (same, ofThread) -> with(release, ofThread));
    }

    void remove(Thread thread, LeaseRelease release) {
        releases.computeIfPresent(thread, (same, ofThread) -> {
            ofThread.remove(release);
            return ofThread.isEmpty() ? null : ofThread;
        });
    }

    /** The handles whose release waits for the end of a transaction of the running thread. */
    List<LockHandle> pending() {
        Collection<LeaseRelease> ofThread = releases.get(Thread.currentThread());
        return ofThread == null
                ? List.of()
                : ofThread.stream()
                        .filter(LeaseRelease::isPending)
                        .map(LeaseRelease::handle)
                        .toList();
    }

    private static Collection<LeaseRelease> with(LeaseRelease release, @Nullable Collection<LeaseRelease> ofThread) {
        Collection<LeaseRelease> all = ofThread == null ? new ConcurrentLinkedQueue<>() : ofThread;
        all.add(release);
        return all;
    }
}
