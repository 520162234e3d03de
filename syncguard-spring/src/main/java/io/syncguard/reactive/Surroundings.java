package io.syncguard.reactive;

import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockRequest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/** What one subscription finds when it begins: the locks around it, and its transaction. Thread-safe. */
final class Surroundings {

    private final HeldLocks outer;
    private final ReactiveTransaction transaction;
    private final Set<String> keys;

    /** The pending locks of the transaction that this subscription has joined. Guarded by this object. */
    private List<LockHandle> joined = List.of();

    /** What the end of the body leaves to be closed. Guarded by this object. */
    private @Nullable LockHandles left;

    Surroundings(ContextView context, List<LockRequest> requests) {
        this.outer = HeldLocks.of(context);
        this.transaction = ReactiveTransaction.of(context);
        this.keys = requests.stream().map(LockRequest::key).collect(Collectors.toSet());
    }

    HeldLocks outer() {
        return outer;
    }

    boolean haveLocks() {
        return !outer.innermostFirst().isEmpty() || transaction.hasPending();
    }

    /** The acquisition begins. A lock that becomes pending meanwhile repeats it. */
    void begin(ReactiveAcquisition acquisition) {
        transaction.begin(acquisition, keys);
    }

    void end(ReactiveAcquisition acquisition) {
        transaction.end(acquisition);
    }

    /** Acquires the locks, and joins those that the subscription would wait for in vain. */
    LockHandles acquire(Callable<LockHandles> acquire) {
        List<LockHandle> pending = transaction.take(keys);
        synchronized (this) {
            joined = pending;
        }
        try {
            return outer.and(pending).call(acquire);
        } catch (Throwable ex) {
            // No offer, because this acquisition would repeat itself without end.
            giveBackJoined();
            throw ex;
        }
    }

    /** The body does not begin. */
    void notTaken() {
        transaction.offer(giveBackJoined());
    }

    /**
     * Returns the locks that are to be closed at the end of the body. The others become pending: further subscriptions
     * of the transaction can join them. A cancellation may end the body a second time.
     */
    LockHandles endBody(LockHandles locks, ReactiveThreads threads) {
        LockHandles now;
        synchronized (this) {
            if (left != null) {
                return left;
            }
            now = transaction.endBody(locks, outer, threads);
            left = now;
        }
        giveBackJoined();
        transaction.offer(locks.all());
        return now;
    }

    private List<LockHandle> giveBackJoined() {
        List<LockHandle> before;
        synchronized (this) {
            before = joined;
            joined = List.of();
        }
        transaction.giveBack(before);
        return before;
    }
}
