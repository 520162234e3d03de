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

/**
 * Runs one statement at a time on a connection of its own, in autocommit and under our settings, with a limit on the silence of
 * the server.
 *
 * <p>Plain JDBC, because {@code JdbcTemplate} takes part in a running transaction: it would keep one of the few lock
 * connections until the caller's transaction ends.
 */
final class PostgresConnections {

    /** No limit is shorter, in milliseconds: one lost packet alone is sent again after 200 ms, and reported after none. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    private final PostgresSessions sessions;
    private final Duration timeout;

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout how long the server may be silent, at most
     */
    PostgresConnections(DataSource dataSource, Duration timeout) {
        this.sessions = new PostgresSessions(dataSource, timeout);
        this.timeout = timeout;
    }

    /** Sets the parameters of a statement. */
    @FunctionalInterface
    interface Binder {
        void bind(Connection connection, PreparedStatement statement) throws SQLException;
    }

    /** Reads the answer; an exception says that it makes no sense. */
    @FunctionalInterface
    interface Reader<T extends @Nullable Object> {
        T read(ResultSet rows) throws SQLException;
    }

    /** One round trip, for an operation that concerns no lease. */
    <T> T query(String doing, String sql, Binder binder, Reader<T> reader) {
        return query(doing, sql, sql, binder, reader);
    }

    /**
     * The same for a statement that has another form where a transaction is around it.
     *
     * @param inTransaction has the same parameters and answers
     */
    <T> T query(String doing, String sql, String inTransaction, Binder binder, Reader<T> reader) {
        return query(doing, new Forms(sql, inTransaction), timeout.toMillis(), binder, reader);
    }

    /**
     * One round trip. The server may be silent for less than a third of the ttl, so that a heartbeat has time for another
     * try.
     */
    <T> T query(String doing, Duration ttl, String sql, Binder binder, Reader<T> reader) {
        long limit = Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1);
        return query(doing, new Forms(sql, sql), Math.max(SHORTEST_TIMEOUT_MILLIS, limit), binder, reader);
    }

    private record Forms(String alone, String inTransaction) {}

    private <T> T query(String doing, Forms sql, long timeoutMillis, Binder binder, Reader<T> reader) {
        try (Connection connection = open(doing, timeoutMillis)) {
            return sessions.isOurs(connection)
                    ? queryAlone(connection, doing, sql.alone(), binder, reader)
                    : queryInTransaction(connection, doing, sql.inTransaction(), binder, reader);
        } catch (SQLException ex) {
            throw PostgresErrors.translate(doing, ex);
        }
    }

    private Connection open(String doing, long timeoutMillis) {
        try {
            return sessions.open(timeoutMillis);
        } catch (SQLException ex) {
            throw PostgresErrors.notSent(doing, ex);
        }
    }

    private <T> T queryAlone(Connection connection, String doing, String sql, Binder binder, Reader<T> reader)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            binder.bind(connection, statement);
            try (ResultSet rows = statement.executeQuery()) {
                return read(doing, rows, reader);
            }
        }
    }

    /** The driver sends all of it at once, so that it is one round trip, and a pooler lends one session for all of it. */
    private <T> T queryInTransaction(Connection connection, String doing, String sql, Binder binder, Reader<T> reader)
            throws SQLException {
        String transaction = sessions.beginOn(connection) + sql + ";\nCOMMIT";
        try (PreparedStatement statement = connection.prepareStatement(transaction)) {
            binder.bind(connection, statement);
            statement.execute();
            try (ResultSet rows = answer(statement)) {
                return read(doing, rows, reader);
            }
        } catch (SQLException ex) {
            rollBack(connection, ex);
            throw ex;
        }
    }

    /** The third result: before it come that of BEGIN and the row of the settings. */
    private static ResultSet answer(PreparedStatement statement) throws SQLException {
        statement.getMoreResults();
        statement.getMoreResults();
        return statement.getResultSet();
    }

    /** The server skips what follows the statement that failed, COMMIT too. */
    private static void rollBack(Connection connection, SQLException failure) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException ex) {
            failure.addSuppressed(ex);
            abort(connection, failure);
        }
    }

    /** The pool does not give out again a connection that is closed. */
    private static void abort(Connection connection, SQLException failure) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException ex) {
            failure.addSuppressed(ex);
        }
    }

    /** All rows have arrived: whatever fails here is in the answer itself. */
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
