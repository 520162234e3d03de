package io.syncguard.transaction;

import io.syncguard.CommitGuard;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.OneLine;
import io.syncguard.concurrent.RunningBody;
import io.syncguard.concurrent.Shielded;
import io.syncguard.core.GuardedBodies;
import io.syncguard.core.GuardedLease;
import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The guard of one transaction. Right before the commit, it pins the leases under which the transaction has worked, and
 * then checks their deadlines. One thread at a time uses it.
 *
 * <ol>
 *   <li>The transaction is bound to a lease if it begins under the lease, or if the lease is acquired, used by a body
 *       or released in the transaction. It stays bound, whatever happens to the handle.
 *   <li>Each lease has to be held, according to its local deadline. No statement is sent for a lease that is already
 *       lost.
 *   <li>One statement pins the leases in the transaction. From now on, the store grants their keys to nobody else until
 *       the transaction has ended. A lease that the statement does not find was lost.
 *   <li>Each lease still has to be held, because the statement may have waited, or the process may have been paused. So
 *       a lease that has lapsed is lost even if nobody else has taken the key.
 * </ol>
 *
 * <p>An error of the application, such as an earlier failure of a statement in the transaction, is thrown as Spring
 * throws it, not as an error of the lock.
 *
 * <p>Throws no {@code TransactionException}, because Spring would not roll back after one.
 */
final class GuardedTransaction implements TransactionSynchronization {

    private static final Log log = LogFactory.getLog(GuardedTransaction.class);

    /** Why a transaction that only reads is not guarded. */
    private static final String READ_ONLY = "it only reads";

    private final @Nullable DataSource dataSource;

    /** {@code null} if it is not known, and calls no {@link TransactionListener}. */
    private final @Nullable GuardedManager manager;

    private final boolean isReadOnly;

    /**
     * The resource that the manager has bound to the thread for its DataSource; {@code null} if there is none. Spring
     * suspends it with the transaction.
     */
    private final @Nullable Object resource;

    /** The leases by lock id. */
    private final Map<String, BoundLease> bound = new LinkedHashMap<>();

    /** The lock ids of the leases that are pinned. */
    private final Set<String> pinned = new HashSet<>();

    private boolean began;
    private boolean completed;
    private @Nullable LockLostException loss;

    /** Ends the deferral of interrupts; {@code null} before the end of the transaction begins. */
    private @Nullable Consumer<Boolean> deferral;

    /**
     * @param manager its transaction manager; {@code null} if that calls no {@link TransactionListener}
     * @param isReadOnly whether the application declared the transaction as read-only. Not every driver enforces that
     */
    private GuardedTransaction(@Nullable GuardedManager manager, boolean isReadOnly) {
        this.manager = manager;
        this.dataSource = manager == null ? null : manager.dataSource();
        this.isReadOnly = isReadOnly;
        this.resource = resource(dataSource);
    }

    /** Begins the guard of a transaction whose manager calls {@link TransactionListener}. */
    static void begin(TransactionExecution transaction, GuardedManager manager) {
        GuardedTransaction guard = new GuardedTransaction(manager, transaction.isReadOnly());
        OpenTransactions.add(transaction, guard);
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            guard.register();
        }
        guard.bindRunningBodies();
    }

    /**
     * Returns the guards of the transactions in which the running thread can write now. Several transaction managers
     * may each have one open. Creates the guard of a transaction whose manager calls no listener.
     */
    static List<GuardedTransaction> ofRunningThread() {
        List<GuardedTransaction> active = OpenTransactions.active();
        // After completion, Spring still calls the transaction active, but accepts no synchronizations.
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return active;
        }
        GuardedTransaction registered = registered();
        if (registered == null) {
            registered = new GuardedTransaction(null, TransactionSynchronizationManager.isCurrentTransactionReadOnly());
            registered.register();
            registered.bindRunningBodies();
        }
        return active.contains(registered)
                ? active
                : Stream.concat(active.stream(), Stream.of(registered)).toList();
    }

    /** Whether the transaction is open and its manager has not suspended it. */
    boolean isActive(boolean isInnermost) {
        if (completed) {
            return false;
        }
        if (resource != null) {
            return resource(dataSource) == resource;
        }
        return TransactionSynchronizationManager.isSynchronizationActive() ? registered() == this : isInnermost;
    }

    /**
     * Binds the transaction to a lease.
     *
     * @return {@code false} if the transaction was bound to the lease before
     */
    boolean bind(GuardedLease lease, Runnable afterCompletion) {
        BoundLease known = bound.get(lease.lockId());
        if (known != null) {
            known.again(lease);
            return false;
        }
        bound.put(lease.lockId(), new BoundLease(lease, began, afterCompletion));
        return true;
    }

    /** @throws LockException if locks of this engine cannot guard the transaction */
    void requireGuard(String key, SpringTransactions engine) {
        if (isReadOnly || isCovered()) {
            return;
        }
        onConnections(key, engine, connections -> {
            // A global transaction has no connection before its first statement.
            String reason = connections.isEmpty() && manager != null && manager.isGlobal()
                    ? manager.whyNotGuarded(engine.store())
                    : whyNotGuarded(connections, engine);
            if (reason != null) {
                throw engine.store().refused(key, reason);
            }
        });
    }

    /**
     * Guards the commit if no listener does, or if Spring has released the connections when a listener is called. It
     * runs earlier than a listener, so it does not see leases that later synchronizations acquire or release.
     */
    @Override
    public void beforeCommit(boolean readOnly) {
        if (manager == null || dataSource == null) {
            guard();
        }
    }

    /**
     * No loss interrupts the end of the transaction: it would keep resources beside the database, such as a Kafka
     * transaction, from their rollback.
     */
    @Override
    public void beforeCompletion() {
        if (deferral == null) {
            deferral = RunningBody.deferInterrupts();
        }
    }

    void guard() {
        List<GuardedLease> needed = bound.values().stream()
                .filter(BoundLease::isNeeded)
                .map(BoundLease::lease)
                .toList();
        needed.forEach(GuardedLease::requireHeld);
        Map<SpringTransactions, List<GuardedLease>> byEngine = new LinkedHashMap<>();
        for (GuardedLease lease : needed) {
            if (!pinned.contains(lease.lockId()) && lease.transactions() instanceof SpringTransactions engine) {
                byEngine.computeIfAbsent(engine, any -> new ArrayList<>()).add(lease);
            }
        }
        byEngine.forEach((engine, leases) ->
                onConnections(leases.get(0).key(), engine, connections -> guard(connections, engine, leases)));
    }

    /** Ends the guard. Spring may have ended it before, as a synchronization. */
    void ended(int status) {
        if (!completed) {
            afterCompletion(status);
        }
        // All synchronizations have ended, too. After a rollback, an exception tells the body.
        resumeInterrupts(status == STATUS_COMMITTED);
    }

    @Override
    public void afterCompletion(int status) {
        completed = true;
        if (manager == null) {
            resumeInterrupts(false);
        }
        for (BoundLease each : List.copyOf(bound.values())) {
            boolean isPinned = pinned.contains(each.lease().lockId());
            if (status == STATUS_COMMITTED && isPinned) {
                each.lease().committed();
            }
            Shielded.run(
                    each::transactionEnded,
                    log,
                    () -> "Lock '" + OneLine.of(each.lease().key()) + "' was not released after a transaction");
            if (status == STATUS_COMMITTED && !isPinned && loss == null) {
                loss = each.lease().unreportedLoss();
            }
        }
    }

    /** The loss of a lease under which the transaction has committed, and which nobody was told. */
    @Nullable
    LockLostException loss() {
        return loss;
    }

    private void resumeInterrupts(boolean interrupt) {
        if (deferral != null) {
            deferral.accept(interrupt);
            deferral = null;
        }
    }

    private void register() {
        TransactionSynchronizationManager.registerSynchronization(this);
    }

    private void bindRunningBodies() {
        GuardedBodies.bindTransaction();
        began = true;
    }

    /** One pin guards a global transaction: all its connections commit after it, or none. */
    private void guard(List<TransactionConnection> connections, SpringTransactions engine, List<GuardedLease> leases)
            throws SQLException {
        GuardingStore store = engine.store();
        String reason = whyNotWithoutConnection(store);
        boolean isGuarded = false;
        boolean writes = connections.isEmpty();
        for (TransactionConnection each : connections) {
            String refusal = GuardingStore.orLack(() -> pin(each.connection(), store, leases));
            if (!READ_ONLY.equals(refusal)) {
                reason = refusal;
                isGuarded |= refusal == null;
                writes = true;
            }
        }
        if (!writes || isGuarded || reason == null || isCovered()) {
            return;
        }
        for (GuardedLease lease : leases) {
            if (lease.guard() == CommitGuard.REQUIRED && !(isReadOnly && connections.isEmpty())) {
                throw store.refused(lease.key(), reason);
            }
        }
        engine.notGuarded(reason);
    }

    private String whyNotWithoutConnection(GuardingStore store) {
        return manager == null ? store.whyNotWithoutConnection(null) : manager.whyNotWithoutConnection(store);
    }

    /** Why none of the connections can pin leases; {@code null} if one can. */
    private @Nullable String whyNotGuarded(List<TransactionConnection> connections, SpringTransactions engine)
            throws SQLException {
        String reason = whyNotWithoutConnection(engine.store());
        for (TransactionConnection each : connections) {
            reason = engine.store().whyNot(each.connection());
            if (reason == null) {
                return null;
            }
        }
        return reason;
    }

    /** Pins the leases. Returns why they are not pinned; {@code null} if they are. */
    private @Nullable String pin(Connection connection, GuardingStore store, List<GuardedLease> leases)
            throws SQLException {
        LeasePins pins = store.pins();
        if (pins != null && pins.isReadOnly(connection, isReadOnly)) {
            return READ_ONLY;
        }
        String reason = store.whyNot(connection);
        if (reason != null || pins == null) {
            return reason;
        }
        LeasePins.Pinned result =
                pins.pin(connection, leases.stream().map(GuardedLease::lockId).toList());
        if (result.lockIds() == null) {
            return result.refusal();
        }
        for (GuardedLease lease : leases) {
            if (!result.lockIds().contains(lease.lockId())) {
                throw notFound(lease, hasSnapshot(connection, pins));
            }
        }
        leases.forEach(GuardedLease::requireHeld);
        leases.forEach(lease -> pinned.add(lease.lockId()));
        return null;
    }

    /** A lost lease must not commit because the connection lacks the answer. */
    private static boolean hasSnapshot(Connection connection, LeasePins pins) throws SQLException {
        try {
            return pins.hasSnapshot(connection);
        } catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError ex) {
            log.debug("The connection does not tell its isolation level", ex);
            return false;
        }
    }

    /** Whether another guard is active, in the same transaction or in one beside it. That guard pins the leases. */
    private boolean isCovered() {
        return manager == null && !OpenTransactions.active().isEmpty();
    }

    private static @Nullable GuardedTransaction registered() {
        for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
            if (each instanceof GuardedTransaction found) {
                return found;
            }
        }
        return null;
    }

    private static @Nullable Object resource(@Nullable DataSource dataSource) {
        return dataSource == null ? null : TransactionSynchronizationManager.getResource(dataSource);
    }

    private LockException notFound(GuardedLease lease, boolean hasSnapshot) {
        BoundLease known = bound.get(lease.lockId());
        if (hasSnapshot && known != null && known.isBoundInside()) {
            return new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The transaction does not see lock '" + lease.key() + "', which was acquired inside it: under"
                            + " REPEATABLE READ and SERIALIZABLE it sees what was there at its first statement. Acquire"
                            + " the lock before the transaction or before its first statement, use READ COMMITTED, or"
                            + " set commitGuard to off");
        }
        return lease.lost("the server did not know it any more when a transaction was to commit under it");
    }

    /** Calls the action with the connections of the transaction that may pin leases. */
    private void onConnections(String key, SpringTransactions engine, Action action) {
        LeasePins pins = engine.store().pins();
        List<TransactionConnection> connections = List.of();
        try {
            // Without such a store, Spring JDBC may be missing from the class path.
            connections = pins == null ? List.of() : TransactionConnection.find(dataSource);
            action.run(connections);
        } catch (SQLException ex) {
            throw failure(key, Objects.requireNonNull(pins), ex);
        } finally {
            connections.forEach(TransactionConnection::close);
        }
    }

    private static RuntimeException failure(String key, LeasePins pins, SQLException error) {
        return switch (pins.meaningOf(error)) {
            case UNSERIALIZABLE ->
                new CannotAcquireLockException("The transaction cannot be serialized with others", error);
            case TAKEN_OVER ->
                new LockLostException(
                        key,
                        LockReason.NOT_FOUND,
                        "Lock '" + key + "' was lost before the commit under it: the key was granted to somebody else",
                        error);
            case APPLICATION, STORE ->
                TransactionConnection.translate("guarding a transaction under lock '" + key + "'", pins, error);
        };
    }

    @FunctionalInterface
    private interface Action {
        void run(List<TransactionConnection> connections) throws SQLException;
    }
}
