package io.syncguard.core;

import io.syncguard.LockHandle;

/**
 * The release of one lease. It is sent after its holder has released it, and after the end of the transactions that are
 * bound to it: the next holder must see what was written under it. Thread-safe.
 */
final class LeaseRelease {

    /** What the caller of a release has to do. */
    private enum Answer {
        /** Send it. */
        SEND,
        /** Nothing: it is sent at the end of the last transaction. */
        DEFERRED,
        /** Nothing: the handle was released before. */
        REPEATED
    }

    private enum State {
        NOT_RELEASED,
        PENDING,
        SENT
    }

    private final LockHandle handle;
    private final Lease lease;
    private final EngineParts parts;

    /** Guarded by this, like the state, so that exactly one thread sends the release. */
    private int openTransactions;

    private State state = State.NOT_RELEASED;

    private volatile boolean lostUnreported;

    /** @param handle the holder's */
    LeaseRelease(LockHandle handle, Lease lease, EngineParts parts) {
        this.handle = handle;
        this.lease = lease;
        this.parts = parts;
    }

    LockHandle handle() {
        return handle;
    }

    /** Binds the running transactions, if there are any, to the lease. */
    void bindTransaction(GuardedLease guarded) {
        Thread thread = Thread.currentThread();
        for (int bound = parts.transactions().bind(guarded, () -> transactionEnded(thread)); bound > 0; bound--) {
            transactionBegan();
            parts.threads().add(thread, this);
        }
    }

    /**
     * Releases the lease, at once or at the end of the last transaction. The first release belongs to the work under
     * the lease, so it binds the running transaction, even if the lease was lost before.
     *
     * @return whether it was held until now
     */
    boolean release(GuardedLease guarded) {
        Answer answer;
        try {
            answer = begin(guarded);
        } catch (Throwable ex) {
            // No transaction will send the release.
            leave(false);
            parts.releaser().release(lease);
            throw ex;
        }
        return switch (answer) {
            case SEND -> parts.releaser().release(lease);
            case DEFERRED -> true;
            case REPEATED -> false;
        };
    }

    /** Begins a release that the caller sends. Returns {@code false} if there is nothing to send now. */
    boolean beginRelease(GuardedLease guarded) {
        return begin(guarded) == Answer.SEND;
    }

    /**
     * Releases a lease that was lost while a transaction committed under it.
     *
     * @return whether the server had the lease until now, so that nobody else was granted the key
     */
    boolean releaseAfterCommit() {
        return leave(false) == Answer.SEND && parts.releaser().releaseAfterCommit(lease);
    }

    /** Whether the release waits for the end of a transaction. */
    synchronized boolean isPending() {
        return state == State.PENDING;
    }

    /** Whether the holder has released the handle. */
    synchronized boolean isReleased() {
        return state != State.NOT_RELEASED;
    }

    /** Whether the release after a transaction found that the lease had been lost, of which the holder was not told. */
    boolean isLostUnreported() {
        return lostUnreported;
    }

    private Answer begin(GuardedLease guarded) {
        if (isReleased()) {
            return Answer.REPEATED;
        }
        bindTransaction(guarded);
        return leave(lease.isHeld());
    }

    /**
     * @param isHeld whether a transaction can still commit under the lease. The release of a lost lease waits for no
     *     transaction
     */
    private synchronized Answer leave(boolean isHeld) {
        if (state != State.NOT_RELEASED) {
            return Answer.REPEATED;
        }
        state = isHeld && openTransactions > 0 ? State.PENDING : State.SENT;
        return state == State.PENDING ? Answer.DEFERRED : Answer.SEND;
    }

    private synchronized void transactionBegan() {
        openTransactions++;
    }

    private void transactionEnded(Thread thread) {
        parts.threads().remove(thread, this);
        if (isLastTransaction()) {
            lostUnreported = !parts.releaser().release(lease);
        }
    }

    /** A transaction has ended. Returns whether the release is to be sent now. */
    private synchronized boolean isLastTransaction() {
        openTransactions--;
        if (state != State.PENDING || openTransactions > 0) {
            return false;
        }
        state = State.SENT;
        return true;
    }
}
