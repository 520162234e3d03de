package io.syncguard.transaction;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;

/**
 * The open transactions of a thread whose manager has no synchronizations ({@code SYNCHRONIZATION_NEVER}). Spring shows
 * them to listeners alone.
 */
final class UnsynchronizedTransactions {

    /** Read and written by the owning thread only. Never left behind. */
    private static final ThreadLocal<@Nullable Deque<Open>> INNERMOST_FIRST = new ThreadLocal<>();

    private UnsynchronizedTransactions() {}

    static void add(TransactionExecution transaction, GuardedTransaction guard) {
        Deque<Open> open = INNERMOST_FIRST.get();
        if (open == null) {
            open = new ArrayDeque<>(1);
            INNERMOST_FIRST.set(open);
        }
        open.push(new Open(transaction, guard));
    }

    static @Nullable GuardedTransaction innermost() {
        Deque<Open> open = INNERMOST_FIRST.get();
        return open == null ? null : open.element().guard;
    }

    /** Returns {@code null} if it is none of them. */
    static @Nullable GuardedTransaction remove(TransactionExecution transaction) {
        Deque<Open> all = INNERMOST_FIRST.get();
        if (all == null) {
            return null;
        }
        for (Open each : all) {
            if (each.transaction == transaction) {
                all.remove(each);
                if (all.isEmpty()) {
                    INNERMOST_FIRST.remove();
                }
                return each.guard;
            }
        }
        return null;
    }

    private record Open(TransactionExecution transaction, GuardedTransaction guard) {}
}
