package io.syncguard.integration;

import io.syncguard.LockHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The locks that each thread holds, and how often it has locked them. Threads may share it. */
final class HeldLocks {

    private final Map<Owner, HeldLock> locks = new ConcurrentHashMap<>();

    /** A lock that the running thread holds; {@code null} if it does not hold it. */
    @Nullable
    HeldLock find(String key) {
        return locks.get(Owner.of(key));
    }

    void add(LockHandle handle) {
        locks.put(Owner.of(handle.key()), new HeldLock(handle));
    }

    void remove(HeldLock lock) {
        locks.remove(Owner.of(lock.handle.key()));
    }

    private record Owner(Thread thread, String key) {

        static Owner of(String key) {
            return new Owner(Thread.currentThread(), key);
        }
    }

    /** Used by one thread. */
    static final class HeldLock {

        private final LockHandle handle;
        private int count = 1;

        private HeldLock(LockHandle handle) {
            this.handle = handle;
        }

        LockHandle handle() {
            return handle;
        }

        void lockAgain() {
            count++;
        }

        /** Returns whether that was the last time. */
        boolean unlock() {
            return --count == 0;
        }
    }
}
