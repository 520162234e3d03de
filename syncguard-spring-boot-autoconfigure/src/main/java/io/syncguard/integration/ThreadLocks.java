package io.syncguard.integration;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The locks that each thread holds, in which store, and how often it has locked them. A thread may hold one key in
 * several stores. Thread-safe.
 */
final class ThreadLocks {

    /** A thread reads and writes only its own locks. The innermost one is first. */
    private final Map<Owner, Deque<HeldLock>> locks = new ConcurrentHashMap<>();

    /** Returns the lock that the running thread holds in this store; {@code null} if it does not hold it there. */
    @Nullable
    HeldLock find(String key, LockManager store) {
        return ofThread(key).stream()
                .filter(lock -> lock.store.equals(store))
                .findFirst()
                .orElse(null);
    }

    /** Returns the lock of this key that the running thread was granted last; {@code null} if it holds none. */
    @Nullable
    HeldLock innermost(String key) {
        return ofThread(key).peekFirst();
    }

    void add(LockHandle handle, LockManager store) {
        locks.computeIfAbsent(Owner.of(handle.key()), owner -> new ArrayDeque<>(1))
                .addFirst(new HeldLock(handle, store));
    }

    void remove(HeldLock lock) {
        locks.computeIfPresent(Owner.of(lock.handle.key()), (owner, ofThread) -> {
            ofThread.remove(lock);
            return ofThread.isEmpty() ? null : ofThread;
        });
    }

    private Deque<HeldLock> ofThread(String key) {
        return locks.getOrDefault(Owner.of(key), new ArrayDeque<>(0));
    }

    private record Owner(Thread thread, String key) {

        static Owner of(String key) {
            return new Owner(Thread.currentThread(), key);
        }
    }

    /** Used by one thread. */
    static final class HeldLock {

        private final LockHandle handle;
        private final LockManager store;
        private int count = 1;

        private HeldLock(LockHandle handle, LockManager store) {
            this.handle = handle;
            this.store = store;
        }

        LockHandle handle() {
            return handle;
        }

        void lockAgain() {
            count++;
        }

        /** Unlocks once. Returns whether that was the last time. */
        boolean unlock() {
            return --count == 0;
        }
    }
}
