package io.syncguard.core;

/**
 * When the release of one handle is sent: after its holder has released it, and after the end of the transactions in
 * which it was acquired and released. Threads may share it.
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

    /** Guarded by this, as the other field is: so exactly one thread has to send the release. */
    private int openTransactions;

    private boolean released;

    synchronized void transactionBegan() {
        openTransactions++;
    }

    /** Returns whether the release is to be sent now. */
    synchronized boolean transactionEnded() {
        openTransactions--;
        return released && openTransactions == 0;
    }

    synchronized Answer release() {
        if (released) {
            return Answer.REPEATED;
        }
        released = true;
        return openTransactions == 0 ? Answer.SEND : Answer.DEFERRED;
    }

    /** Whether the release waits for the end of a transaction. */
    synchronized boolean isPending() {
        return released && openTransactions > 0;
    }
}
