package io.syncguard;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The handles under which a thread works. {@link LockHandle#current()} and nested requests look here. An implementation
 * of {@link LockHandle#bind(Callable) LockHandle.bind} calls {@link #call}.
 *
 * <p>A handle is current while a body runs under it and not merely because a thread acquired it: threads are pooled and
 * handles move between threads, so two tasks would otherwise share one lock.
 */
public final class CurrentLocks {

    private CurrentLocks() {}

    /** Calls the task with the handle as the running thread's innermost one. */
    public static <T extends @Nullable Object> T call(LockHandle handle, Callable<T> task) throws Exception {
        RunningFrames.Frame outer = RunningFrames.innermost();
        RunningFrames.enter(handle);
        try {
            return task.call();
        } finally {
            RunningFrames.restore(outer);
        }
    }

    /** What a handle keeps for code that runs under it. Used by one thread. */
    public interface Scope {

        /**
         * The code failed. The handle is not current any more.
         *
         * @return what to throw in place of the failure; {@code null} for the failure itself
         */
        @Nullable
        LockException failed(Throwable failure);

        /** The code has ended. Called once, and throws nothing. */
        void close();
    }

    /** A handle whose {@link LockHandle#bind(Callable) bind} needs no frame of the stack. */
    public interface Scoped extends LockHandle {

        /** Begins code under this handle on the running thread. */
        Scope enter();
    }

    /**
     * Takes locks one after the other, each under those before it, and calls the task under all of them, as if each was
     * bound in the one before. The locks remain held.
     *
     * @param locks takes the next lock; {@code null} after the last one
     */
    public static <T extends @Nullable Object> T call(Supplier<@Nullable LockHandle> locks, Callable<T> task)
            throws Exception {
        Deque<Scope> scopes = new ArrayDeque<>();
        T result;
        try {
            LockHandle lock = locks.get();
            while (lock instanceof Scoped scoped) {
                scopes.push(scoped.enter());
                RunningFrames.enter(lock);
                lock = locks.get();
            }
            LockHandle other = lock;
            result = other == null
                    ? task.call()
                    : other.bind(() -> call(locks, task)).call();
        } catch (Throwable failure) {
            throw CurrentLocks.<Exception>unchecked(leaveAfter(failure, scopes));
        }
        while (!scopes.isEmpty()) {
            leave();
            scopes.pop().close();
        }
        return result;
    }

    private static Throwable leaveAfter(Throwable failure, Deque<Scope> scopes) {
        Throwable reported = failure;
        while (!scopes.isEmpty()) {
            leave();
            Scope scope = scopes.pop();
            LockException instead = scope.failed(reported);
            reported = instead == null ? reported : instead;
            scope.close();
        }
        return reported;
    }

    private static void leave() {
        RunningFrames.Frame innermost = RunningFrames.innermost();
        RunningFrames.restore(innermost == null ? null : innermost.outer());
    }

    /** Throws a checked exception without a wrapper: only the compiler distinguishes the two kinds. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }

    /** The handles under which the running thread works. */
    public static List<LockHandle> innermostFirst() {
        RunningFrames.Frame innermost = RunningFrames.innermost();
        if (innermost == null) {
            return List.of();
        }
        List<LockHandle> handles = new ArrayList<>();
        for (RunningFrames.Frame frame = innermost; frame != null; frame = frame.outer()) {
            handles.add((LockHandle) frame.content());
        }
        return handles;
    }
}
