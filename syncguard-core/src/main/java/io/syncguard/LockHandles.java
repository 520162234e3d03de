package io.syncguard;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The handles of locks that one call acquired. Any thread may use it, and several at once.
 *
 * <pre>{@code
 * try (LockHandles both = locks.acquire(List.of(LockRequest.of("account", from), LockRequest.of("account", to)))) {
 *     ...
 * }
 * }</pre>
 */
public interface LockHandles extends AutoCloseable {

    /** One handle for each request, in the order of the requests. Requests for one key have the same handle. */
    List<LockHandle> all();

    /** Whether all locks are held. No I/O. */
    default boolean areHeld() {
        return all().stream().allMatch(LockHandle::isHeld);
    }

    /** Binds a task to all these locks: see {@link LockHandle#bind(Callable)}. */
    default <T extends @Nullable Object> Callable<T> bind(Callable<T> task) {
        LockLimits.requireNonNull("task", task);
        return () -> {
            Iterator<LockHandle> handles = new LinkedHashSet<>(all()).iterator();
            return CurrentLocks.call(() -> handles.hasNext() ? handles.next() : null, task);
        };
    }

    /**
     * {@link LockHandle#close Closes} all handles in reverse order, in one request where the store can do that.
     *
     * @throws LockLostException when a lock was lost before; after all others were closed, with further failures
     *     suppressed
     */
    @Override
    default void close() {
        List<LockHandle> handles = new ArrayList<>(new LinkedHashSet<>(all()));
        Throwable failure = null;
        for (int i = handles.size() - 1; i >= 0; i--) {
            try {
                handles.get(i).close();
            } catch (RuntimeException | Error ex) {
                if (failure == null) {
                    failure = ex;
                } else if (failure != ex) {
                    failure.addSuppressed(ex);
                }
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (RuntimeException) failure;
        }
    }

    /** These handles, which are closed one by one: for a manager of your own. */
    static LockHandles of(List<? extends LockHandle> handles) {
        List<LockHandle> all = List.copyOf(handles);
        return () -> all;
    }
}
