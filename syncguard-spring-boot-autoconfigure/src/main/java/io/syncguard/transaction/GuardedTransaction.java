package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.core.GuardedLease;
import io.syncguard.postgres.PostgresPins;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The guard of one transaction: right before the commit, it pins the leases under which the transaction commits, and
 * then looks at their deadlines. One thread at a time uses it.
 *
 * <ol>
 *   <li>The leases are those of the thread's bodies, and those whose release waits for the end of the transaction.
 *   <li>Each has to be held, by its local deadline. No statement is sent for a lease that is already lost.
 *   <li>They are pinned in the transaction, in one statement. From now on, nobody else is granted their keys until the
 *       transaction has ended. A lease that is not there was lost.
 *   <li>Each has to be held still: the statement may have waited, or the process may have been paused. So a lease that
 *       has lapsed is lost even if nobody else has taken the key.
 * </ol>
 *
 * <p>What it throws is no {@code TransactionException}: Spring would not roll back.
 */
final class GuardedTransaction implements TransactionSynchronization {

    private final @Nullable DataSource dataSource;
    private final boolean isListened;

    /** The leases that were acquired or released in it. */
    private final List<GuardedLease> leases = new ArrayList<>();

    private final List<GuardedLease> pinned = new ArrayList<>();

    /**
     * @param dataSource of the transaction manager; {@code null} if it is not known
     * @param isListened whether its transaction manager calls {@link TransactionListener}
     */
    GuardedTransaction(@Nullable DataSource dataSource, boolean isListened) {
        this.dataSource = dataSource;
        this.isListened = isListened;
    }

    /** That of the running thread, which is in a transaction. Of a manager without listeners, it is made here. */
    static GuardedTransaction ofRunningThread() {
        for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
            if (each instanceof GuardedTransaction found) {
                return found;
            }
        }
        GuardedTransaction made = new GuardedTransaction(null, false);
        TransactionSynchronizationManager.registerSynchronization(made);
        return made;
    }

    /** Adds a lease that is acquired or released in it. */
    void add(GuardedLease lease) {
        leases.add(lease);
    }

    /** @throws LockException if it cannot be guarded by locks of this engine */
    void requireGuard(String key, SpringTransactions engine) {
        onConnection(key, engine, connection -> {
            String reason = engine.whyNotGuarded(connection);
            if (reason != null) {
                throw SpringTransactions.refused(key, reason);
            }
        });
    }

    /** Earlier than a listener's call: what later synchronizations acquire or release is not looked at. */
    @Override
    public void beforeCommit(boolean readOnly) {
        if (!isListened) {
            guard();
        }
    }

    void guard() {
        List<GuardedLease> needed = neededLeases();
        needed.forEach(GuardedLease::requireHeld);
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            return;
        }
        Map<SpringTransactions, List<GuardedLease>> byEngine = new LinkedHashMap<>();
        for (GuardedLease lease : needed) {
            if (lease.guard() != CommitGuard.OFF && lease.transactions() instanceof SpringTransactions engine) {
                byEngine.computeIfAbsent(engine, any -> new ArrayList<>()).add(lease);
            }
        }
        byEngine.forEach((engine, leases) ->
                onConnection(leases.get(0).key(), engine, connection -> guard(connection, engine, leases)));
    }

    @Override
    public void afterCompletion(int status) {
        if (status == STATUS_COMMITTED) {
            pinned.forEach(GuardedLease::committed);
        }
    }

    private List<GuardedLease> neededLeases() {
        List<GuardedLease> needed = new ArrayList<>(GuardedLease.ofRunningThread());
        needed.removeIf(lease -> lease.guard() == CommitGuard.OFF);
        for (GuardedLease lease : leases) {
            if (lease.isDeferred() && needed.stream().noneMatch(lease::isSameAs)) {
                needed.add(lease);
            }
        }
        return needed;
    }

    private void guard(@Nullable Connection connection, SpringTransactions engine, List<GuardedLease> leases)
            throws SQLException {
        String reason = engine.whyNotGuarded(connection);
        PostgresPins pins = engine.pins();
        if (reason == null && connection != null && pins != null) {
            pin(connection, pins, leases);
            return;
        }
        for (GuardedLease lease : leases) {
            if (lease.guard() == CommitGuard.REQUIRED) {
                throw SpringTransactions.refused(lease.key(), String.valueOf(reason));
            }
        }
        engine.notGuarded(String.valueOf(reason));
    }

    private void pin(Connection connection, PostgresPins pins, List<GuardedLease> leases) throws SQLException {
        Set<String> found =
                pins.pin(connection, leases.stream().map(GuardedLease::lockId).toList());
        for (GuardedLease lease : leases) {
            if (!found.contains(lease.lockId())) {
                throw notFound(lease, pins.hasSnapshot(connection));
            }
        }
        leases.forEach(GuardedLease::requireHeld);
        pinned.addAll(leases);
    }

    private LockException notFound(GuardedLease lease, boolean hasSnapshot) {
        if (hasSnapshot && leases.stream().anyMatch(lease::isSameAs)) {
            return new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The transaction does not see lock '" + lease.key() + "', which was acquired inside it: under"
                            + " REPEATABLE READ and SERIALIZABLE it sees what was there at its first statement. Acquire"
                            + " the lock before the transaction or before its first statement, use READ COMMITTED, or"
                            + " set commitGuard to off");
        }
        return lease.lost("the server did not know it any more when a transaction was to commit under it");
    }

    /** Calls the action with the connection of the transaction; with {@code null} if none can pin leases. */
    private void onConnection(String key, SpringTransactions engine, Action action) {
        // Without PostgreSQL, Spring JDBC may not be there.
        try (TransactionConnection connection = engine.pins() == null ? null : TransactionConnection.find(dataSource)) {
            action.run(connection == null ? null : connection.connection());
        } catch (SQLException ex) {
            throw PostgresPins.isTakenOver(ex)
                    ? new LockLostException(key, "Lock '" + key + "' was lost before the commit under it", ex)
                    : PostgresPins.translate("guarding a commit under lock '" + key + "'", ex);
        } catch (DataAccessException ex) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Failed while guarding a commit under lock '" + key + "': see the cause",
                    ex);
        }
    }

    @FunctionalInterface
    private interface Action {
        void run(@Nullable Connection connection) throws SQLException;
    }
}
