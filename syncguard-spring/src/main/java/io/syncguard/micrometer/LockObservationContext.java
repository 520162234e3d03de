package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockOutcome;
import io.syncguard.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * The context of a lock observation, for a {@link LockObservationConvention} and for handlers. Outcome, error and owner
 * are set in the course of the operation.
 */
public final class LockObservationContext extends Observation.Context {

    private final LockObservationDocumentation observation;
    private final ObservedLock lock;
    private volatile @Nullable LockOutcome outcome;
    private volatile @Nullable String holderOwner;

    LockObservationContext(LockObservationDocumentation observation, ObservedLock lock) {
        this.observation = observation;
        this.lock = lock;
    }

    /** The kind of observation. */
    public LockObservationDocumentation observation() {
        return observation;
    }

    /** The name of the lock, which has few values; see {@link LockRequest#name()}. */
    public String name() {
        return lock.name();
    }

    /** The name of the backend, such as {@code postgres}. */
    public String backend() {
        return lock.backend();
    }

    /** The request, which contains the key. */
    public LockRequest request() {
        return lock.request();
    }

    /** The hash of the key, as lookups show it. */
    public String keyHash() {
        return lock.keyHash();
    }

    /** The fence of the grant; {@code null} before the grant. */
    public @Nullable Fence fence() {
        return lock.fence();
    }

    /** How the operation ended; {@code null} before its end. */
    public @Nullable LockOutcome outcome() {
        return outcome;
    }

    /** The code of the error; {@code null} without an error, and if the error is not a {@link LockException}. */
    public @Nullable LockErrorCode errorCode() {
        return getError() instanceof LockException error ? error.code() : null;
    }

    /**
     * The label of the last holder that the acquisition met; {@code null} if it met none, or if the holder has no
     * label.
     */
    public @Nullable String holderOwner() {
        return holderOwner;
    }

    void outcome(LockOutcome outcome) {
        this.outcome = outcome;
    }

    void holderOwner(@Nullable String owner) {
        this.holderOwner = owner;
    }
}
