package io.syncguard.core;

/**
 * When the release of one handle is sent: after its holder has released it, and after the end of the transactions that
 * are bound to it. Threads may share it.
 */
final class DeferredRelease {

    /** What the caller of a release has to do. */
    enum Answer {
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

    /** Guarded by this, as the other field is: so exactly one thread has to send the release. */
    private int openTransactions;

    private State state = State.NOT_RELEASED;

    synchronized void transactionBegan() {
        openTransactions++;
    }

    /** Returns whether the release is to be sent now. */
    synchronized boolean transactionEnded() {
        openTransactions--;
        if (state != State.PENDING || openTransactions > 0) {
            return false;
        }
        state = State.SENT;
        return true;
    }

    /** @param isHeld whether a transaction can still commit under the lease. The release of a lost one waits for none */
    synchronized Answer release(boolean isHeld) {
        if (state != State.NOT_RELEASED) {
            return Answer.REPEATED;
        }
        state = isHeld && openTransactions > 0 ? State.PENDING : State.SENT;
        return state == State.PENDING ? Answer.DEFERRED : Answer.SEND;
    }

    /** Whether the release waits for the end of a transaction. */
    synchronized boolean isPending() {
        return state == State.PENDING;
    }

    /** Whether the holder has released the handle. */
    synchronized boolean isReleased() {
        return state != State.NOT_RELEASED;
    }
}
