package io.syncguard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes each call to the manager of the moment: see {@link LockManager#routing}. */
final class RoutingLockManager implements LockManager {

    /** How many managers may route to one another. More of them route in a circle. */
    private static final int MAX_HOPS = 16;

    private final Supplier<? extends @Nullable LockManager> supplier;

    RoutingLockManager(Supplier<? extends @Nullable LockManager> supplier) {
        this.supplier = LockLimits.requireNonNull("supplier of lock managers", supplier);
    }

    @Override
    public LockManager current() {
        LockManager current = this;
        for (int hops = 0; current instanceof RoutingLockManager routing; hops++) {
            if (hops == MAX_HOPS) {
                throw refused("leads back to the routing manager itself: return a manager that stores locks");
            }
            current = routing.supplied();
        }
        return current.current();
    }

    @Override
    public LockHandle acquire(LockRequest request) {
        return current().acquire(request);
    }

    @Override
    public @Nullable LockHandle tryAcquire(LockRequest request) {
        return current().tryAcquire(request);
    }

    @Override
    public LockHandles acquire(List<LockRequest> requests) {
        return current().acquire(requests);
    }

    @Override
    public @Nullable LockHandles tryAcquire(List<LockRequest> requests) {
        return current().tryAcquire(requests);
    }

    @Override
    public boolean isLocked(String key) {
        return current().isLocked(key);
    }

    @Override
    public boolean owns(String lockId) {
        return current().owns(lockId);
    }

    @Override
    public boolean release(String lockId) {
        return current().release(lockId);
    }

    @Override
    public Optional<Instant> extend(String lockId, Duration ttl) {
        return current().extend(lockId, ttl);
    }

    @Override
    public LockAdmin admin() {
        return new RoutingLockAdmin(this::currentAdmin);
    }

    private LockAdmin currentAdmin() {
        LockManager current = LockSetupException.requireAnswer("LockManager.current", current());
        return LockSetupException.requireAnswer("LockManager.admin", current.admin());
    }

    private LockManager supplied() {
        LockManager supplied = supplier.get();
        if (supplied == null) {
            throw refused("returned null: return a manager for each thread that asks, or throw an exception that says"
                    + " what the thread lacks");
        }
        return supplied;
    }

    private static LockException refused(String why) {
        return new LockException(LockErrorCode.INVALID_ARGUMENT, "The supplier of LockManager.routing " + why);
    }
}
