package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.PreparedStatementCreator;

/**
 * Runs each statement on a connection of the library, under the library's settings and with a limit on the silence of
 * the server. It takes no part in a transaction of the caller.
 */
final class PostgresConnections {

    /**
     * The shortest limit, in milliseconds. A shorter one would fail requests to a server that is only slow.
     */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    private final PostgresSessions sessions;
    private final JdbcTemplate jdbc;
    private final Duration timeout;

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout how long the server may be silent, at most
     * @param searchPath where the sessions look for names
     */
    PostgresConnections(DataSource dataSource, Duration timeout, PostgresSearchPath searchPath) {
        this.sessions = new PostgresSessions(dataSource, timeout, searchPath);
        this.jdbc = new JdbcTemplate(sessions);
        // JdbcTemplate's own translation knows fewer errors.
        jdbc.setExceptionTranslator((task, sql, error) -> new UncategorizedSQLException(task, sql, error));
        this.timeout = timeout;
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

    /** One round trip, for an operation that concerns no lease. */
    <T> T query(String doing, String sql, Binder binder, Reader<T> reader) {
        return query(doing, sql, sql, binder, reader);
    }

    /**
     * As above, for a statement that has another form inside a transaction.
     *
     * @param inTransaction has the same parameters and answers
     */
    <T> T query(String doing, String sql, String inTransaction, Binder binder, Reader<T> reader) {
        return query(doing, new Forms(sql, inTransaction), timeout.toMillis(), binder, reader);
    }

    /**
     * One round trip. The server may be silent for less than a third of the ttl, so that a heartbeat has time for
     * another try.
     */
    <T> T query(String doing, Duration ttl, String sql, Binder binder, Reader<T> reader) {
        return query(doing, new Forms(sql, sql), silenceLimit(ttl), binder, reader);
    }

    /** How long the server may be silent, in milliseconds, during a request that concerns a lease with this ttl. */
    long silenceLimit(Duration ttl) {
        return Math.max(SHORTEST_TIMEOUT_MILLIS, Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1));
    }

    private record Forms(String alone, String inTransaction) {}

    private <T> T query(String doing, Forms sql, long timeoutMillis, Binder binder, Reader<T> reader) {
        Duration limit = Duration.ofMillis(timeoutMillis);
        PreparedStatementCreator creator = connection -> prepare(connection, sql, limit);
        PreparedStatementCallback<T> callback = statement -> run(statement, doing, binder, reader);
        try {
            return CallerSynchronizations.setAside(() -> jdbc.execute(creator, callback));
        } catch (CannotGetJdbcConnectionException ex) {
            throw PostgresErrors.notSent(doing, causeOf(ex));
        } catch (DataAccessException ex) {
            SQLException cause = causeOf(ex);
            throw cause instanceof UnsuitableConnectionException refusal && !refusal.isSent()
                    ? PostgresErrors.notSent(doing, cause)
                    : PostgresErrors.translate(doing, cause);
        }
    }

    /** On a pooler's session, the settings travel with the statement: the driver sends both in one round trip. */
    private PreparedStatement prepare(Connection connection, Forms sql, Duration limit) throws SQLException {
        PostgresSessions.limitSilence(connection, limit);
        return connection.prepareStatement(
                sessions.isOurs(connection)
                        ? sql.alone()
                        : sessions.beginOn(connection) + sql.inTransaction() + ";\nCOMMIT");
    }

    private <T> T run(PreparedStatement statement, String doing, Binder binder, Reader<T> reader) throws SQLException {
        Connection connection = statement.getConnection();
        binder.bind(connection, statement);
        boolean ours = sessions.isOurs(connection);
        PostgresSessions.requireNoTransaction(connection, false);
        try (ResultSet rows = ours ? statement.executeQuery() : executeInTransaction(statement)) {
            PostgresSessions.requireNoTransaction(connection, true);
            return read(doing, rows, reader);
        } catch (SQLException ex) {
            if (PostgresErrors.isReadOnly(ex)) {
                abort(connection, ex);
            }
            throw ex;
        }
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

    private static SQLException causeOf(DataAccessException error) {
        return error.getCause() instanceof SQLException cause ? cause : new SQLException(error);
    }

    /** The third result, after those of BEGIN and of the settings. */
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
