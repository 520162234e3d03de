package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Pins leases in transactions of the application. Until such a transaction has ended, its leases are not released, and
 * nobody else is granted their keys; heartbeats go on. Threads may share it.
 */
public final class PostgresPins {

    /**
     * {@code FOR KEY SHARE} blocks what deletes a lease or changes its lock id, and nothing else. A stronger lock would
     * block heartbeats, and fail under {@code REPEATABLE READ} after one.
     */
    private static final String PIN = """
            SELECT e.lock_id FROM (
                SELECT l.lock_id FROM ${locks} l WHERE l.lock_id OPERATOR(pg_catalog.=) ANY (?)
                ORDER BY l.lock_id FOR KEY SHARE
            ) e
            UNION ALL
            SELECT r.lock_id FROM (
                SELECT s.lock_id FROM ${shared} s WHERE s.lock_id OPERATOR(pg_catalog.=) ANY (?)
                ORDER BY s.lock_id FOR KEY SHARE
            ) r
            """;

    /**
     * A read-only transaction refuses to lock rows, and the server does not report every transaction that is read-only. A
     * savepoint keeps such a transaction usable. All travels in one round trip.
     */
    private static final String BEGIN = "SAVEPOINT syncguard_pin;\n";

    private static final String END = ";\nRELEASE SAVEPOINT syncguard_pin";
    private static final String UNDO = "ROLLBACK TO SAVEPOINT syncguard_pin";

    private static final String IS_READ_ONLY =
            "SELECT pg_catalog.current_setting('transaction_read_only')::pg_catalog.bool";

    /** The SQLSTATE {@code read_only_sql_transaction}. */
    private static final String READ_ONLY = "25006";

    private final RecognisedDatabases databases;
    private final Duration timeout;

    PostgresPins(PostgresConnections connections, PostgresSettings settings, Time time) {
        this.databases = new RecognisedDatabases(connections, settings.tables(), time);
        this.timeout = settings.timeout();
    }

    /**
     * Why transactions on this connection cannot be guarded: it is not one to the database of the locks, or its user
     * may not lock the rows. {@code null} if they can. Asks the server once for each URL and user; a refusal counts for
     * a minute.
     *
     * @throws LockBackendException when the database of the locks does not answer the first question
     */
    public @Nullable String whyNot(Connection connection) throws SQLException {
        return databases.whyNot(connection);
    }

    /**
     * Pins leases in the transaction of this connection, which was recognised before. One statement. It waits for
     * transactions that lock one of the rows, for half the network timeout at most.
     *
     * @return the lock ids of those that are there; none of the others can be seen by this transaction. {@code null} if
     *     the transaction turned out to be read-only
     */
    public @Nullable Set<String> pin(Connection connection, List<String> lockIds) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(BEGIN + databases.tables().fill(PIN) + END)) {
            statement.setQueryTimeout((int) Math.max(1, timeout.toSeconds()));
            for (int parameter = 1; parameter <= 2; parameter++) {
                statement.setArray(parameter, connection.createArrayOf("text", lockIds.toArray()));
            }
            statement.execute();
            statement.getMoreResults();
            Set<String> pinned = new HashSet<>();
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    pinned.add(rows.getString(1));
                }
            }
            return pinned;
        } catch (SQLException ex) {
            if (!READ_ONLY.equals(ex.getSQLState())) {
                throw ex;
            }
            try (Statement undo = connection.createStatement()) {
                undo.execute(UNDO);
            }
            return null;
        }
    }

    /**
     * Whether the transaction of this connection writes nothing, so that there is nothing to guard. The server is asked
     * if the transaction or its session has been declared as read-only: a driver or a pool may ignore that. On another
     * product than PostgreSQL the driver decides.
     *
     * @param isDeclared whether the application declared the transaction as read-only
     */
    public boolean isReadOnly(Connection connection, boolean isDeclared) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            return connection.isReadOnly();
        }
        boolean isHinted = isDeclared
                || connection.isReadOnly()
                || "on"
                        .equals(connection
                                .unwrap(PGConnection.class)
                                .getParameterStatus("default_transaction_read_only"));
        if (!isHinted) {
            return false;
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(IS_READ_ONLY)) {
            rows.next();
            return rows.getBoolean(1);
        }
    }

    /** Whether the transaction of this connection sees only what was committed before its first statement. */
    public boolean hasSnapshot(Connection connection) throws SQLException {
        return connection.getTransactionIsolation() >= Connection.TRANSACTION_REPEATABLE_READ;
    }

    /** Whether the error means that a lease was taken over, or released, after the snapshot of the transaction. */
    public static boolean isTakenOver(SQLException error) {
        return "40001".equals(error.getSQLState());
    }

    /** @param doing what was being done, such as {@code guarding a commit under lock 'order:42'} */
    public static LockBackendException translate(String doing, SQLException error) {
        return PostgresErrors.translate(doing, error);
    }
}
