package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
                SELECT l.lock_id FROM ${locks} l WHERE l.lock_id = ANY (?) ORDER BY l.lock_id FOR KEY SHARE
            ) e
            UNION ALL
            SELECT r.lock_id FROM (
                SELECT s.lock_id FROM ${locks}_shared s WHERE s.lock_id = ANY (?) ORDER BY s.lock_id FOR KEY SHARE
            ) r
            """;

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
     * @return the lock ids of those that are there; none of the others can be seen by this transaction
     */
    public Set<String> pin(Connection connection, List<String> lockIds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PIN.replace("${locks}", databases.locks()))) {
            statement.setQueryTimeout((int) Math.max(1, timeout.toSeconds()));
            for (int parameter = 1; parameter <= 2; parameter++) {
                statement.setArray(parameter, connection.createArrayOf("text", lockIds.toArray()));
            }
            Set<String> pinned = new HashSet<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    pinned.add(rows.getString(1));
                }
            }
            return pinned;
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
