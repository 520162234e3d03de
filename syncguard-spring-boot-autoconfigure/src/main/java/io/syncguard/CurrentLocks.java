package io.syncguard;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The handles under which a thread works. {@link LockHandle#current()} and nested requests look here. An implementation
 * of {@link LockHandle#bind(Callable) LockHandle.bind} calls {@link #call}.
 *
 * <p>A handle is current while a body runs under it and not merely because a thread acquired it: threads are pooled and
 * handles move between threads, so two tasks would otherwise share one lock.
 */
public final class CurrentLocks {

    /** Read and written by the owning thread only; never left behind, so that pooled threads stay clean. */
    private static final ThreadLocal<@Nullable Frame> INNERMOST = new ThreadLocal<>();

    private CurrentLocks() {}

    /** Calls the task with the handle as the running thread's innermost one. */
    public static <T extends @Nullable Object> T call(LockHandle handle, Callable<T> task) throws Exception {
        Frame outer = INNERMOST.get();
        INNERMOST.set(new Frame(handle, outer));
        try {
            return task.call();
        } finally {
            if (outer == null) {
                INNERMOST.remove();
            } else {
                INNERMOST.set(outer);
            }
        }
    }

    /** The handles under which the running thread works. */
    public static List<LockHandle> innermostFirst() {
        Frame innermost = INNERMOST.get();
        if (innermost == null) {
            return List.of();
        }
        List<LockHandle> handles = new ArrayList<>();
        for (Frame frame = innermost; frame != null; frame = frame.outer) {
            handles.add(frame.handle);
        }
        return handles;
    }

    private record Frame(LockHandle handle, @Nullable Frame outer) {}
}
