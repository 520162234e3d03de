package io.syncguard.jdbc;

import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the application's {@code DataSource} cannot serve locks, because it depends on the transaction or
 * context of the thread that opens it.
 */
public final class UnsuitableConnectionException extends SQLException implements ConnectionRefusal {

    private static final long serialVersionUID = 1L;

    private static final List<String> NEXT_STEPS = List.of(
            "Mark a DataSource bean with an URL of its own, such as a HikariDataSource, with @SyncGuardDataSource",
            "Keep the locks of each tenant in its database: declare a LockManager bean with LockManager.routing");

    private final String problem;
    private final boolean sent;

    private UnsuitableConnectionException(String problem, String detail, boolean sent, @Nullable Exception cause) {
        super(detail, cause);
        this.problem = problem;
        this.sent = sent;
    }

    /** @param sent whether a statement has run in that transaction */
    public static UnsuitableConnectionException inTransaction(String detail, boolean sent) {
        return new UnsuitableConnectionException(
                "The DataSource makes the connections of SyncGuard part of other transactions, such as those of JTA",
                detail,
                sent,
                null);
    }

    /** Returns the refusal of a pool, or the error itself: those of the driver and of the server have a state. */
    static SQLException explained(SQLException error) {
        return error.getClass() == SQLException.class && error.getSQLState() == null
                ? new UnsuitableConnectionException(
                        "The DataSource does not let SyncGuard use its connections here, such as in a transaction of"
                                + " JTA that has begun",
                        String.valueOf(error.getMessage()),
                        false,
                        error)
                : error;
    }

    static UnsuitableConnectionException toAnotherStore(String first, String now) {
        return new UnsuitableConnectionException(
                "The DataSource leads to several databases, and a lock manager keeps its locks in one",
                "the first connection led to " + first + ", and another one leads to " + now,
                false,
                null);
    }

    /** @param cause the exception of the {@code DataSource} */
    static UnsuitableConnectionException withoutContext(Exception cause) {
        return new UnsuitableConnectionException(
                "The DataSource gives no usable connection to a thread of SyncGuard, which has no tenant, request or"
                        + " transaction",
                String.valueOf(cause.getMessage()),
                false,
                cause);
    }

    @Override
    public String problem() {
        return problem;
    }

    @Override
    public List<String> nextSteps() {
        return NEXT_STEPS;
    }

    boolean isSent() {
        return sent;
    }
}
