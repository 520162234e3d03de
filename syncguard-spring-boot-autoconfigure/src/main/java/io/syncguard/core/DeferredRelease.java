package io.syncguard.core;

/**
 * When the release of one lease is sent: once its holder has given it back, and the transactions in which it was
 * acquired and given back have ended. Threads may share it.
 */
final class DeferredRelease {

    /** What comes of a release. */
    enum Answer {
        /** It is to be sent by the caller. */
        SEND,
        /** It is sent at the end of the last transaction. */
        DEFERRED,
        /** The lease was given back before. */
        REPEATED
    }

    /** Guarded by this, as the other field is: so exactly one thread is told to send the release. */
    private int openTransactions;

    private boolean givenBack;

    synchronized void transactionBegan() {
        openTransactions++;
    }

    /** Returns whether the release is to be sent now. */
    synchronized boolean transactionEnded() {
        openTransactions--;
        return givenBack && openTransactions == 0;
    }

    synchronized Answer giveBack() {
        if (givenBack) {
            return Answer.REPEATED;
        }
        givenBack = true;
        return openTransactions == 0 ? Answer.SEND : Answer.DEFERRED;
    }

    /** Whether the lease was given back and is kept until a transaction has ended. */
    synchronized boolean isPending() {
        return givenBack && openTransactions > 0;
    }
}
