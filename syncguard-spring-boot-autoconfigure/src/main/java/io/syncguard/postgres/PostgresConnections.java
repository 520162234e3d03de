package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs one statement at a time on a connection of its own, in autocommit, with a limit on the silence of the server.
 *
 * <p>Plain JDBC, because {@code JdbcTemplate} takes part in a running transaction: it would keep one of the few lock
 * connections until the caller's transaction ends.
 */
final class PostgresConnections {

    /** No limit is shorter, in milliseconds: one lost packet alone is sent again after 200 ms, and reported after none. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    private final DataSource dataSource;
    private final Duration timeout;

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout how long the server may be silent, at most
     */
    PostgresConnections(DataSource dataSource, Duration timeout) {
        this.dataSource = dataSource;
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
        return query(doing, sql, timeout.toMillis(), binder, reader);
    }

    /**
     * One round trip. The server may be silent for less than a third of the ttl, so that a heartbeat has time for another
     * try.
     */
    <T> T query(String doing, Duration ttl, String sql, Binder binder, Reader<T> reader) {
        long limit = Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1);
        return query(doing, sql, Math.max(SHORTEST_TIMEOUT_MILLIS, limit), binder, reader);
    }

    private <T> T query(String doing, String sql, long timeoutMillis, Binder binder, Reader<T> reader) {
        try (Connection connection = connection(doing)) {
            // Known to the driver alone: no round trip. The pool takes it back.
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(timeoutMillis));
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                binder.bind(connection, statement);
                try (ResultSet rows = statement.executeQuery()) {
                    return read(doing, rows, reader);
                }
            }
        } catch (SQLException ex) {
            throw PostgresErrors.translate(doing, ex);
        }
    }

    private Connection connection(String doing) {
        try {
            return dataSource.getConnection();
        } catch (SQLException ex) {
            throw PostgresErrors.notSent(doing, ex);
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
