package io.syncguard.reactive;

import io.syncguard.CurrentLocks;
import io.syncguard.LockHandle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import reactor.core.Exceptions;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The locks under which a subscription runs, as the Reactor context carries them.
 *
 * @param innermostFirst the locks; the context keeps all of them, so that a nested request for any of their keys joins
 */
record HeldLocks(List<LockHandle> innermostFirst) {

    /** Returns the locks of the context, else those of the thread that subscribes. */
    static HeldLocks of(ContextView context) {
        return context.<HeldLocks>getOrEmpty(HeldLocks.class)
                .orElseGet(() -> new HeldLocks(CurrentLocks.innermostFirst()));
    }

    HeldLocks and(List<LockHandle> inner) {
        Set<LockHandle> locks = new LinkedHashSet<>();
        for (int i = inner.size() - 1; i >= 0; i--) {
            locks.add(inner.get(i));
        }
        locks.addAll(innermostFirst);
        return new HeldLocks(List.copyOf(locks));
    }

    /** Whether the lock has the lease of one of these, which it has joined. */
    boolean hasLease(LockHandle lock) {
        return innermostFirst.stream().anyMatch(each -> each.lockId().equals(lock.lockId()));
    }

    LockHandle innermost() {
        return innermostFirst.get(0);
    }

    /** Calls the task on the running thread, under all these locks. Fails if one of them is lost. */
    <T> T call(Callable<T> task) {
        Callable<T> bound = task;
        for (LockHandle lock : innermostFirst) {
            bound = lock.bind(bound);
        }
        try {
            return bound.call();
        } catch (Exception ex) {
            throw Exceptions.propagate(ex);
        }
    }

    Context writeTo(Context context) {
        return context.put(HeldLocks.class, this).put(LockHandle.class, innermost());
    }
}
