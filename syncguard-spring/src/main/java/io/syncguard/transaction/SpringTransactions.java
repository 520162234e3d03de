package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.core.GuardedLease;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LeasePins;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** The transactions that Spring binds to threads, for one engine. Thread-safe. */
public final class SpringTransactions implements TransactionBoundary {

    private static final Log log = LogFactory.getLog(SpringTransactions.class);

    private final Set<String> logged = ConcurrentHashMap.newKeySet();
    private final GuardingStore store;
    private final CommitGuard defaultGuard;

    /**
     * @param backend the name of the store, for messages
     * @param pins pins leases of the engine; {@code null} if its store cannot
     * @param defaultGuard the guard of requests that name none
     */
    public SpringTransactions(String backend, @Nullable LeasePins pins, CommitGuard defaultGuard) {
        if (defaultGuard == CommitGuard.DEFAULT) {
            throw LockSetupException.invalid(
                    "syncguard.commit-guard is default, but has to be auto, required or off",
                    "Correct syncguard.commit-guard");
        }
        this.store = new GuardingStore(backend, pins);
        this.defaultGuard = defaultGuard;
    }

    @Override
    public int bind(GuardedLease lease, Runnable afterCompletion) {
        int bound = 0;
        for (GuardedTransaction transaction : GuardedTransaction.ofRunningThread()) {
            bound += transaction.bind(lease, afterCompletion) ? 1 : 0;
        }
        return bound;
    }

    @Override
    public void requireGuard(LockRequest request) {
        endCompleted();
        if (guardOf(request) == CommitGuard.REQUIRED) {
            GuardedTransaction.ofRunningThread().forEach(each -> each.requireGuard(request.key(), this));
        }
    }

    @Override
    public void bodyBegins(String key) {
        if (log.isDebugEnabled() && PersistenceContexts.isOpen()) {
            log.debug(
                    "Lock '" + key + "' was acquired while a persistence context (JPA, MyBatis) was open on its thread:"
                            + " what it had read before is not read again under the lock, unless it is refreshed");
        }
    }

    @Override
    public CommitGuard defaultGuard() {
        return defaultGuard;
    }

    /**
     * Releases what has waited for transactions that have ended, before the thread asks again: it would join a handle
     * whose release comes next.
     */
    public static void endCompleted() {
        OpenTransactions.endCompleted();
    }

    GuardingStore store() {
        return store;
    }

    /** Logs each kind of reason once. Behind its colon are words of a driver, which may name a connection or a time. */
    void notGuarded(String reason) {
        if (logged.add(reason.split(":", 2)[0])) {
            log.info("Some commits under locks are not guarded: " + reason);
        }
    }

    private CommitGuard guardOf(LockRequest request) {
        return request.commitGuard() == CommitGuard.DEFAULT ? defaultGuard : request.commitGuard();
    }
}
