package io.syncguard.fencing;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockSetupException;
import io.syncguard.StaleFenceException;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Refuses the writes of a holder that lost its lock. Records the largest fence that a resource has seen, and refuses a
 * smaller one, in the transaction of the writes. Any database works that Spring can reach; the locks may be in another
 * store. Thread-safe.
 *
 * <pre>{@code
 * @Transactional
 * public void book(String account, long cents, Fence fence) {
 *     fences.check("account:" + account, fence);
 *     ... // the writes
 * }
 * }</pre>
 *
 * <p>A check locks the row of its resource until the transaction ends, so a holder with a smaller fence never commits
 * after one with a larger fence. Check first, then read and write; check several resources in one order.
 *
 * <p>Fences can only be compared if they come from the same key: a resource belongs to one key of one store. Several
 * readers hold a shared lock at once, so their fences protect nothing.
 */
public final class FenceGuard {

    /** The table that the auto-configuration uses. */
    public static final String DEFAULT_TABLE = "syncguard_fences";

    private final DataSource dataSource;
    private final FenceTable table;

    /** Written by the first checks, on any thread. All write equal values. */
    private volatile @Nullable FenceStatement statement;

    /** Creates a guard on the default table. */
    public FenceGuard(DataSource dataSource) {
        this(dataSource, DEFAULT_TABLE);
    }

    /**
     * @param dataSource the {@code DataSource} whose transactions are guarded
     * @param table the name of the table, which {@link FenceSchema} creates: a plain identifier of at
     *     most 48 letters, digits and underscores, with an optional schema in front
     * @throws LockSetupException for another name
     */
    public FenceGuard(DataSource dataSource, String table) {
        this.dataSource = dataSource;
        this.table = new FenceTable(table);
    }

    /**
     * Records the fence in the running transaction if it is the largest that the resource has seen; the same fence
     * passes again. A transaction whose check failed cannot commit, even if the exception is caught.
     *
     * <p>A recorded fence refuses all smaller ones forever. So check a fence from outside with
     * {@link Fence#isPossibleAt} first.
     *
     * @param resource what the fence protects: a text with the limits of a key
     * @throws StaleFenceException when the resource has seen a larger fence
     * @throws DataAccessException when an earlier statement of the application failed in the transaction, as after it
     *     any other statement fails
     * @throws LockBackendException when the statement fails. With {@link LockErrorCode#SERVICE_UNAVAILABLE}, another
     *     transaction worked on the resource at the same time, or the server accepts no writes now; the whole
     *     transaction can be run again
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when no transaction of this {@code DataSource}
     *     is running in which a write can be rolled back, or the resource is outside its limits
     */
    public void check(String resource, Fence fence) {
        String name = LockLimits.resource(resource);
        LockLimits.requireNonNull("fence", fence);
        requireTransaction(name);
        String doing = "checking fence " + fence + " of resource '" + name + "'";
        try {
            Fence largest = new Fence(record(name, fence, doing));
            if (largest.compareTo(fence) > 0) {
                throw new StaleFenceException(name, fence, largest);
            }
        } catch (LockException | DataAccessException ex) {
            RefusedTransaction.register(ex);
            throw ex;
        }
    }

    private static void requireTransaction(String resource) {
        // After completion, Spring still calls the transaction active, but accepts no synchronizations.
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            throw noTransaction(resource, "no transaction is running");
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw noTransaction(resource, "the transaction is read-only");
        }
    }

    private static LockException noTransaction(String resource, String why) {
        return new LockException(
                LockErrorCode.INVALID_ARGUMENT,
                "The fence of resource '" + resource + "' was not checked: " + why
                        + ". The record of the fence and the writes that it guards have to be committed together: call"
                        + " check in the transaction of these writes, in a @Transactional method for instance");
    }

    private long record(String resource, Fence fence, String doing) {
        Connection connection = connection(doing);
        try {
            if (connection.getAutoCommit() || !DataSourceUtils.isConnectionTransactional(connection, dataSource)) {
                throw noTransaction(resource, "the running transaction is not one of the FenceGuard's DataSource");
            }
            long largest = statement(connection).record(connection, resource, fence.value());
            if (largest < fence.value()) {
                throw new LockBackendException(
                        LockErrorCode.INTERNAL,
                        "Failed while " + doing + ": the answer " + largest + " makes no sense. Look for a proxy or a"
                                + " trigger that changes statements or answers",
                        null);
            }
            return largest;
        } catch (SQLException ex) {
            throw FenceErrors.failedBefore(connection, ex)
                    ? new UncategorizedSQLException(doing, null, ex)
                    : FenceErrors.translate(doing, ex);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    /** Returns the connection of the running transaction, or else another one, which the caller refuses. */
    private Connection connection(String doing) {
        try {
            return DataSourceUtils.getConnection(dataSource);
        } catch (CannotGetJdbcConnectionException ex) {
            if (ex.getCause() instanceof SQLException cause) {
                throw FenceErrors.translate(doing, cause);
            }
            throw new LockBackendException(LockErrorCode.INTERNAL, "Failed while " + doing + ": see the cause", ex);
        }
    }

    private FenceStatement statement(Connection connection) throws SQLException {
        FenceStatement known = statement;
        if (known == null) {
            known = FenceDatabase.of(connection).statement(table);
            statement = known;
        }
        return known;
    }
}
