package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.StoreInfo;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * Runs each statement on a connection of the library, under the library's settings and within one time limit for the
 * whole request: for the connection, its set-up and the answer. It takes no part in a transaction of the caller.
 */
final class PostgresConnections {

    /** The shortest timeout, in milliseconds. With a shorter one, requests to a merely slow server would fail. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    private final PostgresSessions sessions;
    private final Duration timeout;
    private final RunningRequests requests;
    private final Time time;

    /** When the requests time out, if that is earlier than two timeouts after the start of each. */
    private final long deadline;

    private final boolean interruptible;

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout maximum wait for a connection, and maximum wait for an answer of the server
     * @param searchPath the search path of the sessions
     * @param requests ends requests that time out or whose callers are interrupted
     */
    PostgresConnections(
            DataSource dataSource, Duration timeout, PostgresSearchPath searchPath, RunningRequests requests) {
        this(new PostgresSessions(dataSource, timeout, searchPath), timeout, requests, Time.NEVER, true);
    }

    private PostgresConnections(
            PostgresSessions sessions,
            Duration timeout,
            RunningRequests requests,
            long deadline,
            boolean interruptible) {
        this.sessions = sessions;
        this.timeout = timeout;
        this.requests = requests;
        this.time = requests.time();
        this.deadline = deadline;
        this.interruptible = interruptible;
    }

    /** Returns the same connections, for requests that time out at the deadline. */
    PostgresConnections until(long deadline) {
        return new PostgresConnections(sessions, timeout, requests, deadline, interruptible);
    }

    /** Returns the same connections, for requests that go on when their callers are interrupted. */
    PostgresConnections uninterruptible() {
        return new PostgresConnections(sessions, timeout, requests, deadline, false);
    }

    /** Sets the parameters of a statement. */
    @FunctionalInterface
    interface Binder {
        void bind(Connection connection, PreparedStatement statement) throws SQLException;
    }

    /** Reads the answer; an exception means that the answer is malformed. */
    @FunctionalInterface
    interface Reader<T extends @Nullable Object> {
        T read(ResultSet rows) throws SQLException;
    }

    /** Sends a statement that concerns no lease, in one round trip. */
    <T> T query(String doing, String sql, Binder binder, Reader<T> reader) {
        return query(doing, sql, sql, binder, reader);
    }

    /**
     * Does the same with a statement that has another form inside a transaction.
     *
     * @param inTransaction the form inside a transaction, with the same parameters and answers
     */
    <T> T query(String doing, String sql, String inTransaction, Binder binder, Reader<T> reader) {
        return query(doing, new Forms(sql, inTransaction), timeout.toMillis(), binder, reader);
    }

    /**
     * Sends a statement that concerns a lease, in one round trip. The network timeout is shorter than a third of the
     * ttl, so that a heartbeat has time for another try.
     */
    <T> T query(String doing, Duration ttl, String sql, Binder binder, Reader<T> reader) {
        return query(doing, new Forms(sql, sql), networkTimeout(ttl), binder, reader);
    }

    /** The network timeout, in milliseconds, of a request that concerns a lease with this ttl. */
    long networkTimeout(Duration ttl) {
        return StoreInfo.timeout(timeout, ttl).toMillis();
    }

    private record Forms(String alone, String inTransaction) {}

    private <T> T query(String doing, Forms sql, long timeoutMillis, Binder binder, Reader<T> reader) {
        return CallerSynchronizations.setAside(() -> queryAlone(doing, sql, timeoutMillis, binder, reader));
    }

    /** Sends a statement once more if the server rolled it back because of a conflict with others. */
    private <T> T queryAlone(String doing, Forms sql, long timeoutMillis, Binder binder, Reader<T> reader) {
        long start = time.nanoTime();
        long end = Math.min(deadline, start + 2 * timeout.toNanos());
        try {
            return attempt(doing, sql, timeoutMillis, binder, reader, end);
        } catch (LockBackendException first) {
            long left = Math.min(
                    timeoutMillis - Duration.ofNanos(time.nanoTime() - start).toMillis(), millisUntil(end));
            if (!PostgresErrors.isConflict(first) || left < timeoutMillis / 2) {
                throw first;
            }
            try {
                return attempt(doing, sql, left, binder, reader, end);
            } catch (LockBackendException second) {
                second.addSuppressed(first);
                throw second;
            }
        }
    }

    private <T> T attempt(String doing, Forms sql, long timeoutMillis, Binder binder, Reader<T> reader, long end) {
        Connection connection = lend(doing, end);
        try (RunningRequest request = requests.begin(connection, end, interruptible)) {
            prepare(doing, connection, request, end);
            try {
                return send(doing, connection, sql, Math.min(timeoutMillis, millisUntil(end)), binder, reader);
            } catch (UnsuitableConnectionException ex) {
                throw ex.isSent() ? PostgresErrors.translate(doing, ex) : PostgresErrors.notSent(doing, ex);
            } catch (SQLException ex) {
                throw PostgresErrors.translate(doing, request.explained(sessions.explained(connection, ex)));
            }
        } finally {
            JdbcUtils.closeConnection(connection);
        }
    }

    private Connection lend(String doing, long end) {
        try {
            return sessions.lend(Duration.ofMillis(Math.min(timeout.toMillis(), millisUntil(end))));
        } catch (SQLException ex) {
            throw PostgresErrors.notSent(doing, ex);
        }
    }

    private void prepare(String doing, Connection connection, RunningRequest request, long end) {
        try {
            sessions.prepare(connection, Duration.ofMillis(Math.min(timeout.toMillis(), millisUntil(end))));
            if (millisUntil(end) < SHORTEST_TIMEOUT_MILLIS) {
                throw new SQLTimeoutException("The request timed out before it could be sent");
            }
        } catch (SQLException ex) {
            throw PostgresErrors.notSent(doing, request.explained(UnsuitableConnectionException.explained(ex)));
        }
    }

    /** Returns at least 1, because 0 would mean no limit. */
    private long millisUntil(long end) {
        return Math.max(1, Duration.ofNanos(end - time.nanoTime()).toMillis());
    }

    private <T> T send(
            String doing, Connection connection, Forms sql, long timeoutMillis, Binder binder, Reader<T> reader)
            throws SQLException {
        PostgresSessions.setNetworkTimeout(connection, Duration.ofMillis(timeoutMillis));
        boolean ours = sessions.isOurs(connection);
        PreparedStatement statement =
                connection.prepareStatement(ours ? sql.alone() : inTransaction(connection, sql.inTransaction()));
        try {
            binder.bind(connection, statement);
            PostgresSessions.requireNoTransaction(connection, false);
            try (ResultSet rows = ours ? statement.executeQuery() : executeInTransaction(statement)) {
                PostgresSessions.requireNoTransaction(connection, true);
                return read(doing, rows, reader);
            }
        } catch (SQLException ex) {
            if (SqlState.of(ex) == SqlState.READ_ONLY) {
                abort(connection, ex);
            }
            throw ex;
        } finally {
            JdbcUtils.closeStatement(statement);
        }
    }

    /** On a pooler's session, the settings travel with the statement: the driver sends both in one round trip. */
    private String inTransaction(Connection connection, String sql) throws SQLException {
        return sessions.beginOn(connection) + sql + ";\nCOMMIT";
    }

    private static ResultSet executeInTransaction(PreparedStatement statement) throws SQLException {
        try {
            statement.execute();
            return answer(statement);
        } catch (Throwable ex) {
            rollBack(statement.getConnection(), ex);
            throw ex;
        }
    }

    /** Returns the third result, which follows those of BEGIN and of the settings. */
    private static ResultSet answer(PreparedStatement statement) throws SQLException {
        statement.getMoreResults();
        statement.getMoreResults();
        return statement.getResultSet();
    }

    /** The server skips the statements after the failed one, COMMIT included. */
    private static void rollBack(Connection connection, Throwable failure) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (Throwable ex) {
            failure.addSuppressed(ex);
            abort(connection, failure);
        }
    }

    /** The pool must not hand out a connection that is still in the failed transaction. */
    private static void abort(Connection connection, Throwable failure) {
        try {
            connection.abort(Runnable::run);
        } catch (Throwable ex) {
            failure.addSuppressed(ex);
        }
    }

    /** All rows have arrived, so a failure here means a malformed answer. */
    private static <T> T read(String doing, ResultSet rows, Reader<T> reader) {
        try {
            return reader.read(rows);
        } catch (LockBackendException ex) {
            throw ex;
        } catch (SQLException | RuntimeException ex) {
            throw PostgresErrors.malformed(doing, ex);
        }
    }
}
