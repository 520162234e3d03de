package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.jdbc.RunningRequests;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * Sends each statement on a connection of the library, under the library's settings, in one round trip. A pooler's
 * session gets the settings with the statement.
 */
final class PostgresConnections {

    private final PostgresSessions sessions;
    private final JdbcConnections connections;

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout maximum wait for a connection, and maximum wait for an answer of the server
     * @param searchPath the search path of the sessions
     * @param requests ends requests that time out or whose callers are interrupted
     */
    PostgresConnections(
            DataSource dataSource, Duration timeout, PostgresSearchPath searchPath, RunningRequests requests) {
        this.sessions = new PostgresSessions(dataSource, timeout, searchPath);
        this.connections = new JdbcConnections(dataSource, sessions, timeout, requests);
    }

    private PostgresConnections(PostgresSessions sessions, JdbcConnections connections) {
        this.sessions = sessions;
        this.connections = connections;
    }

    /** Returns the same connections, for requests that time out at the deadline. */
    PostgresConnections until(long deadline) {
        return new PostgresConnections(sessions, connections.until(deadline));
    }

    /** Returns the same connections, for requests that go on when their callers are interrupted. */
    PostgresConnections uninterruptible() {
        return new PostgresConnections(sessions, connections.uninterruptible());
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

    /** Sends a statement that concerns no lease. */
    <T> T query(String doing, String sql, Binder binder, Reader<T> reader) {
        return query(doing, sql, sql, binder, reader);
    }

    /**
     * Sends a statement that concerns no lease, and has another form inside a transaction.
     *
     * @param inTransaction the form inside a transaction, with the same parameters and answers
     */
    <T> T query(String doing, String sql, String inTransaction, Binder binder, Reader<T> reader) {
        Forms forms = new Forms(sql, inTransaction);
        return connections.call(doing, connection -> send(doing, connection, forms, binder, reader));
    }

    /** Sends a statement that concerns a lease. */
    <T> T query(String doing, Duration ttl, String sql, Binder binder, Reader<T> reader) {
        Forms forms = new Forms(sql, sql);
        return connections.call(
                doing, connections.networkTimeout(ttl), connection -> send(doing, connection, forms, binder, reader));
    }

    private record Forms(String alone, String inTransaction) {}

    private <T> T send(String doing, Connection connection, Forms sql, Binder binder, Reader<T> reader)
            throws SQLException {
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
