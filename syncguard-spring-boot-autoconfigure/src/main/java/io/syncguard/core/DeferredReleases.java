package io.syncguard.core;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds whose body has ended and which are released when the transaction around it has: the next holder must see what was
 * written under them. Until then a request of the same thread for the same key joins them, or it would wait for itself.
 */
final class DeferredReleases {

    private final TransactionBoundary transactions;

    /** Read and written by the owning thread only, which also runs what comes after its transaction. */
    private final ThreadLocal<@Nullable List<Hold>> holds = new ThreadLocal<>();

    DeferredReleases(TransactionBoundary transactions) {
        this.transactions = transactions;
    }

    /**
     * Puts the release off to the end of the running transaction.
     *
     * @return {@code false} when there is no transaction, or the lock is not held any more
     */
    boolean defer(Hold hold, Consumer<Hold> release) {
        // Looked at once more before the commit: what a holder wrote that has lost its lock is rolled back.
        Runnable check = () -> hold.requireHeld(hold);
        if (!hold.isHeld() || !transactions.atEnd(check, () -> complete(hold, release))) {
            return false;
        }
        List<Hold> ofThread = holds.get();
        if (ofThread == null) {
            ofThread = new ArrayList<>();
            holds.set(ofThread);
        }
        ofThread.add(hold);
        return true;
    }

    /** Those of the running thread. */
    List<Hold> holds() {
        List<Hold> ofThread = holds.get();
        return ofThread == null ? List.of() : ofThread;
    }

    private void complete(Hold hold, Consumer<Hold> release) {
        List<Hold> ofThread = holds.get();
        if (ofThread != null) {
            ofThread.remove(hold);
            if (ofThread.isEmpty()) {
                holds.remove();
            }
        }
        release.accept(hold);
    }
}
