package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An extension of a lease that is under way, from its request to its answer. While it is open, every other extension of
 * the lease waits. Used by one thread, which closes it.
 */
final class LeaseExtension implements AutoCloseable {

    private final Lease lease;
    private Confirmation before;
    private Confirmation asked;

    /** How it ended. Read after the extension. */
    private LockOutcome outcome = LockOutcome.FAILED;

    private @Nullable LockBackendException error;

    LeaseExtension(Lease lease) {
        this.lease = lease;
        this.before = lease.confirmed();
        this.asked = before;
    }

    /** For a thread that was interrupted before the answer. */
    static LockException interrupted(String what, InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new LockException(
                LockErrorCode.ABORTED, "Interrupted while extending " + what + ", which is held as before", cause);
    }

    Lease lease() {
        return lease;
    }

    /** The request of a heartbeat, to be sent now. */
    ExtendRequest heartbeat() {
        return request(null, ExtendRequest.Kind.HEARTBEAT);
    }

    /**
     * The request, to be sent now.
     *
     * @param ttl {@code null} for that of the lease
     */
    ExtendRequest request(@Nullable Duration ttl, ExtendRequest.Kind kind) {
        before = lease.confirmed();
        asked = lease.prepareExtension(ttl);
        return new ExtendRequest(lease.keyedLockId(), asked.ttl(), kind);
    }

    /**
     * Applies the answer to the lease.
     *
     * @return whether the lease is still held
     */
    boolean answered(ExtendResult result) {
        if (result instanceof ExtendResult.Extended extended) {
            lease.extended(asked.until(extended.expiresAt()));
        } else if (result instanceof ExtendResult.Rotated rotated) {
            lease.extended(asked.until(rotated.expiresAt()));
            lease.rotated(rotated.fence());
        } else if (result instanceof ExtendResult.Expired) {
            lease.lose(LockReason.EXPIRED, "its lease had lapsed at the server");
        } else if (result instanceof ExtendResult.NotFound) {
            lease.lose(LockReason.NOT_FOUND, "the server does not know it any more");
        } else {
            lease.unchanged(before);
        }
        boolean held = lease.isHeld();
        outcome = !held
                ? LockOutcome.LOST
                : result instanceof ExtendResult.Busy ? LockOutcome.BUSY : LockOutcome.EXTENDED;
        return held;
    }

    /** The request failed. If that is in doubt, it may still take effect. */
    void failed(LockBackendException error) {
        this.error = error;
        lease.extensionFailed(BackendFailure.shown(error));
        if (BackendFailure.isInDoubt(error)) {
            lease.inDoubt(asked.ttl());
        }
    }

    /** How it ended. */
    LockOutcome outcome() {
        return outcome;
    }

    /** Why it failed; {@code null} if it was answered. */
    @Nullable
    LockBackendException error() {
        return error;
    }

    /**
     * Observes it if it did not succeed: a lock that is held for days has a hundred thousand others. It has been
     * answered, or has failed. Another thread than that of the extension may call this.
     */
    void observe() {
        if (error != null) {
            lease.observation().extend().failed(error);
        } else if (outcome != LockOutcome.EXTENDED) {
            lease.observation().extend().ended(outcome);
        }
    }

    @Override
    public void close() {
        lease.extensionEnded();
    }
}
