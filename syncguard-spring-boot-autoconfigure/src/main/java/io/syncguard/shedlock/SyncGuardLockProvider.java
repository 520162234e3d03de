package io.syncguard.shedlock;

import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Runs ShedLock's {@code @SchedulerLock} methods under the locks of a {@link LockManager}. Thread-safe.
 *
 * <p>The name is the key: {@code @SchedulerLock(name = "report")} and {@code @DistributedLock("report")} exclude each
 * other. {@code lockAtMostFor} is the ttl. There is no heartbeat, so the lock ends after that time even if its process
 * lives, and others get the key at once. If the process died, they get it a second later. {@code lockAtLeastFor} is
 * {@code holdAtLeast}. The properties {@code syncguard.locks.<name>.*} replace them.
 *
 * <p>{@link #lock} makes one attempt. It throws {@link io.syncguard.LockBackendException} if the server cannot be
 * asked, and {@link LockLostException} if {@code lockAtMostFor} was over before the answer arrived.
 * {@link SimpleLock#unlock} does not fail for a lock that has ended; the log has the loss.
 */
public final class SyncGuardLockProvider implements ExtensibleLockProvider {

    private final LockManager manager;

    public SyncGuardLockProvider(LockManager manager) {
        this.manager = manager;
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        LockManager current = LockSetupException.requireAnswer("LockManager.current", manager.current());
        LockHandle handle = current.tryAcquire(request(configuration));
        if (handle == null) {
            return Optional.empty();
        }
        // Without this release, others would get the key only after the tolerance of the store.
        handle.onLost(handle::release);
        return Optional.of(new HeldLock(configuration, handle));
    }

    private static LockRequest request(LockConfiguration configuration) {
        String name = configuration.getName();
        LockRequest request = LockRequest.of(name);
        // A name of ShedLock may be an expression over data. Without a name for meters, the engine refuses such a key.
        return (name.startsWith(LockLimits.ELECTION_PREFIX) ? request : request.meterName(name))
                .ttl(wholeMillis(configuration.getLockAtMostFor()))
                .noHeartbeat()
                .holdAtLeast(configuration.getLockAtLeastFor());
    }

    /**
     * Rounds up to whole milliseconds. Leaves a duration that is too long for a ttl unchanged, so that the request
     * refuses it.
     */
    private static Duration wholeMillis(Duration duration) {
        return duration.compareTo(LockLimits.MAX_DURATION) > 0
                ? duration
                : Duration.ofMillis(duration.plusNanos(999_999).toMillis());
    }

    /** One grant, until it is extended or unlocked. */
    private static final class HeldLock extends AbstractSimpleLock {

        private final LockHandle handle;

        HeldLock(LockConfiguration configuration, LockHandle handle) {
            super(configuration);
            this.handle = handle;
        }

        @Override
        protected void doUnlock() {
            handle.release();
        }

        @Override
        protected Optional<SimpleLock> doExtend(LockConfiguration next) {
            return handle.extendAs(request(next)) ? Optional.of(new HeldLock(next, handle)) : Optional.empty();
        }
    }
}
