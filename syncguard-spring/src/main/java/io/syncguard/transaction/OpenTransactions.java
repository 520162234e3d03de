package io.syncguard.transaction;

import io.syncguard.LockLostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * The open transactions of a thread whose managers call {@link TransactionListener}. Spring shows synchronizations only
 * the innermost transaction, and no transaction of a manager without synchronizations.
 */
final class OpenTransactions {

    /** Read and written by the owning thread only. Removed with the last transaction of the thread. */
    private static final ThreadLocal<@Nullable Deque<Open>> INNERMOST_FIRST = new ThreadLocal<>();

    private OpenTransactions() {}

    static void add(TransactionExecution transaction, GuardedTransaction guard) {
        endCompleted();
        Deque<Open> open = INNERMOST_FIRST.get();
        if (open == null) {
            open = new ArrayDeque<>(1);
            INNERMOST_FIRST.set(open);
        }
        open.push(new Open(transaction, guard));
    }

    /** Returns the guards of those in which the running thread can write now. A manager may have suspended others. */
    static List<GuardedTransaction> active() {
        endCompleted();
        Deque<Open> open = INNERMOST_FIRST.get();
        if (open == null) {
            return List.of();
        }
        GuardedTransaction innermost = open.element().guard;
        return open.stream()
                .map(Open::guard)
                .filter(guard -> guard.isActive(guard == innermost))
                .toList();
    }

    static @Nullable GuardedTransaction find(TransactionExecution transaction) {
        Deque<Open> open = INNERMOST_FIRST.get();
        if (open != null) {
            for (Open each : open) {
                if (each.transaction == transaction) {
                    return each.guard;
                }
            }
        }
        return null;
    }

    /** A transaction with an {@link GuardedTransaction#loss unreported loss} stays until that is taken. */
    static void end(TransactionExecution transaction, int status) {
        GuardedTransaction guard = find(transaction);
        if (guard != null) {
            guard.ended(status);
            if (guard.loss() == null) {
                remove(transaction);
            }
        }
    }

    /** Returns the loss of a transaction that has ended, of which nobody was told; {@code null} if there is none. */
    static @Nullable LockLostException takeLoss(TransactionExecution transaction) {
        GuardedTransaction guard = find(transaction);
        remove(transaction);
        return guard == null ? null : guard.loss();
    }

    /**
     * Ends those that have ended without a call of our listeners: Spring calls none after one that throws, and none
     * after a {@code TransactionException} before the commit.
     */
    static void endCompleted() {
        Deque<Open> open = INNERMOST_FIRST.get();
        if (open != null) {
            open.stream()
                    .map(Open::transaction)
                    .filter(TransactionExecution::isCompleted)
                    .toList()
                    .forEach(each -> {
                        end(each, TransactionSynchronization.STATUS_UNKNOWN);
                        remove(each);
                    });
        }
    }

    /** The number of those of the running thread. */
    static int number() {
        Deque<Open> open = INNERMOST_FIRST.get();
        return open == null ? 0 : open.size();
    }

    private static void remove(TransactionExecution transaction) {
        Deque<Open> open = INNERMOST_FIRST.get();
        if (open != null && open.removeIf(each -> each.transaction == transaction) && open.isEmpty()) {
            INNERMOST_FIRST.remove();
        }
    }

    private record Open(TransactionExecution transaction, GuardedTransaction guard) {}
}
