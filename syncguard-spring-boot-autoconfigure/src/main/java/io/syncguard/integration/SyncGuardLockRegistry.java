package io.syncguard.integration;

import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import java.time.Duration;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's lock registry on the locks of a {@link LockManager}. Thread-safe.
 *
 * <pre>{@code
 * Lock lock = registry.obtain("42");
 * lock.lock();
 * try {
 *     ...
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p>A lock belongs to the thread that has it, which may lock it again. Heartbeats extend it until it is unlocked, so
 * its ttl ends it only if the process died, was paused or could not reach the server. Waiting threads of all processes
 * are served in the order of their arrival.
 *
 * <p>A {@link LockManager#routing routing} manager chooses the store when a thread locks. An unlock ends the lock in
 * the store that is current then, or, if the thread has none there, the lock that it was granted last.
 */
public final class SyncGuardLockRegistry
        implements RenewableLockRegistry<DistributedLock>, ExpirableLockRegistry<DistributedLock> {

    private final LockManager manager;
    private final String name;
    private final Duration ttl;
    private final ThreadLocks held = new ThreadLocks();

    /**
     * Creates a registry whose keys are {@code name:lockKey}. Registries with one name share their locks, in all
     * processes.
     *
     * @param ttl the ttl of locks without one
     */
    public SyncGuardLockRegistry(LockManager manager, String name, Duration ttl) {
        this.manager = manager;
        this.name = LockLimits.key(name);
        this.ttl = LockLimits.ttl(ttl);
    }

    /**
     * Returns the lock of this key, which is equal to those that were returned for it before. Nothing is stored until
     * it is locked.
     *
     * @param lockKey a text that is not blank
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return lock(lockKey);
    }

    @Override
    public void renewLock(Object lockKey) {
        renewLock(lockKey, ttl);
    }

    /**
     * Extends the lease of a lock that the thread holds. Heartbeats do that, too, so it is seldom needed.
     *
     * @throws IllegalMonitorStateException if the thread does not hold the lock
     * @throws IllegalStateException if the lock was lost
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        RegistryLock lock = lock(lockKey);
        if (!lock.renew(ttl)) {
            throw new IllegalStateException("It was lost before, and cannot be renewed: " + lock);
        }
    }

    /** Does nothing: the registry keeps no lock that is not held. */
    @Override
    public void expireUnusedOlderThan(long age) {}

    private RegistryLock lock(Object lockKey) {
        if (!(lockKey instanceof String key)) {
            throw new IllegalArgumentException("A lock key is a text, not " + lockKey);
        }
        return new RegistryLock(manager, held, LockRequest.of(name, key), ttl);
    }
}
