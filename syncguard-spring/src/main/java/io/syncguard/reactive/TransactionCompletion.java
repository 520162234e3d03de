package io.syncguard.reactive;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Shows a {@link ReactiveTransaction} when Spring ends it, at a commit, a rollback or a cancellation. Without Spring's
 * transactions, nothing loads this class.
 */
final class TransactionCompletion implements TransactionSynchronization, Ordered {

    /** How long other synchronizations may work after the commit before the locks are released beside them. */
    private static final Duration AFTER_COMMIT = Duration.ofSeconds(2);

    private final ReactiveTransaction transaction;

    /** Releases the locks later. The threads that commit and end the transaction use it one after the other. */
    private final Disposable.Swap fallback = Disposables.swap();

    private TransactionCompletion(ReactiveTransaction transaction) {
        this.transaction = transaction;
    }

    static ReactiveTransaction current(ContextView context) {
        TransactionContext transactions = context.getOrDefault(TransactionContext.class, null);
        if (transactions == null) {
            return ReactiveTransaction.noneWithin(null);
        }
        // Spring expects no concurrent subscriptions in one transaction, but Flux.merge makes them.
        synchronized (transactions) {
            return current(new TransactionSynchronizationManager(transactions));
        }
    }

    private static ReactiveTransaction current(TransactionSynchronizationManager manager) {
        ReactiveTransaction last = (ReactiveTransaction) manager.getResource(ReactiveTransaction.class);
        ReactiveTransaction open = firstOpen(last);
        if (!manager.isActualTransactionActive() || !manager.isSynchronizationActive()) {
            return ReactiveTransaction.noneWithin(open);
        }
        for (TransactionSynchronization each : manager.getSynchronizations()) {
            if (each instanceof TransactionCompletion known) {
                return known.transaction;
            }
        }
        ReactiveTransaction begun = new ReactiveTransaction(open);
        manager.registerSynchronization(new TransactionCompletion(begun));
        manager.unbindResourceIfPossible(ReactiveTransaction.class);
        manager.bindResource(ReactiveTransaction.class, begun);
        return begun;
    }

    private static @Nullable ReactiveTransaction firstOpen(@Nullable ReactiveTransaction last) {
        ReactiveTransaction each = last;
        while (each != null && each.isCompleted()) {
            each = each.suspended();
        }
        return each;
    }

    @Override
    public Mono<Void> beforeCommit(boolean readOnly) {
        return Mono.defer(transaction::requireHeld);
    }

    /** Spring does not call {@link #afterCompletion} if another synchronization fails after the commit. */
    @Override
    public Mono<Void> afterCommit() {
        return Mono.fromRunnable(() -> fallback.update(Mono.delay(AFTER_COMMIT)
                .then(Mono.defer(transaction::completed))
                .subscribe()));
    }

    @Override
    public Mono<Void> afterCompletion(int status) {
        return Mono.defer(() -> {
            fallback.dispose();
            return transaction.completed();
        });
    }

    /** First, because Spring calls no synchronization after one that fails. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
