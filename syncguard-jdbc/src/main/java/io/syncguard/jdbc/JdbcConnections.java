package io.syncguard.jdbc;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AnswerLimit;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.StoreInfo;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.JdbcUtils;

/**
 * Runs each request on a connection of the library, within one time limit for the whole of it: for the connection, its
 * set-up and the answer. It takes no part in a transaction of the caller. Thread-safe.
 */
public final class JdbcConnections {

    /** The shortest timeout, in milliseconds. With a shorter one, requests to a merely slow server would fail. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    private final DataSource dataSource;
    private final JdbcSessions sessions;
    private final Duration timeout;
    private final RunningRequests requests;
    private final Time time;

    /** When the requests time out, if that is earlier than two timeouts after the start of each. */
    private final long deadline;

    private final boolean interruptible;

    /**
     * @param dataSource gives connections in autocommit
     * @param timeout maximum wait for a connection, and maximum wait for an answer of the server
     * @param requests ends requests that time out or whose callers are interrupted
     */
    public JdbcConnections(DataSource dataSource, JdbcSessions sessions, Duration timeout, RunningRequests requests) {
        this(dataSource, sessions, timeout, requests, Time.NEVER, true);
    }

    private JdbcConnections(
            DataSource dataSource,
            JdbcSessions sessions,
            Duration timeout,
            RunningRequests requests,
            long deadline,
            boolean interruptible) {
        this.dataSource = dataSource;
        this.sessions = sessions;
        this.timeout = timeout;
        this.requests = requests;
        this.time = requests.time();
        this.deadline = deadline;
        this.interruptible = interruptible;
    }

    /** Returns the same connections, for requests that time out at the deadline. */
    public JdbcConnections until(long deadline) {
        return new JdbcConnections(dataSource, sessions, timeout, requests, deadline, interruptible);
    }

    /** Returns the same connections, for requests that go on when their callers are interrupted. */
    public JdbcConnections uninterruptible() {
        return new JdbcConnections(dataSource, sessions, timeout, requests, deadline, false);
    }

    /** Maximum wait for an answer of the server. */
    public Duration timeout() {
        return timeout;
    }

    /** What a request does on its connection. */
    @FunctionalInterface
    public interface Call<T extends @Nullable Object> {
        T on(Connection connection) throws SQLException;
    }

    /** Runs a request that concerns no lease. */
    public <T extends @Nullable Object> T call(String doing, Call<T> call) {
        return call(doing, timeout, call);
    }

    /**
     * Runs a request, and once more if the server rolled it back because of a conflict with others.
     *
     * @param doing for a message, such as {@code acquiring lock 'order:42'}; without a lock id
     * @param limit maximum wait for each answer of the server; for a lease, that of {@link #networkTimeout}
     */
    public <T extends @Nullable Object> T call(String doing, Duration limit, Call<T> call) {
        try {
            return CallerSynchronizations.setAside(() -> callAlone(doing, limit.toMillis(), call));
        } catch (RequestNotSentException ex) {
            throw ex;
        } catch (LockBackendException ex) {
            throw RunningRequest.isWithoutAnswer(ex)
                    ? new AnswerLimit(limit, timeout, "half of " + sessions.timeoutProperty()).addTo(ex)
                    : ex;
        }
    }

    /**
     * The network timeout of a request that concerns a lease with this ttl. It is shorter than a third of the ttl, so
     * that a heartbeat has time for another try.
     */
    public Duration networkTimeout(Duration ttl) {
        return StoreInfo.timeout(timeout, ttl);
    }

    private <T extends @Nullable Object> T callAlone(String doing, long timeoutMillis, Call<T> call) {
        long start = time.nanoTime();
        long end = Math.min(deadline, start + 2 * timeout.toNanos());
        try {
            return attempt(doing, timeoutMillis, call, end);
        } catch (LockBackendException first) {
            long left = Math.min(
                    timeoutMillis - Duration.ofNanos(time.nanoTime() - start).toMillis(), millisUntil(end));
            if (!sessions.isConflict(first) || left < timeoutMillis / 2) {
                throw first;
            }
            try {
                return attempt(doing, left, call, end);
            } catch (LockBackendException second) {
                second.addSuppressed(first);
                throw second;
            }
        }
    }

    private <T extends @Nullable Object> T attempt(String doing, long timeoutMillis, Call<T> call, long end) {
        Connection connection = lend(doing, end);
        try (RunningRequest request = requests.begin(connection, end, interruptible)) {
            prepare(doing, connection, request, end);
            try {
                NetworkTimeout.set(connection, Duration.ofMillis(Math.min(timeoutMillis, millisUntil(end))));
                return call.on(connection);
            } catch (UnsuitableConnectionException ex) {
                throw ex.isSent() ? sessions.translate(doing, ex) : notSent(doing, ex);
            } catch (SQLException ex) {
                throw sessions.translate(doing, request.explained(sessions.explained(connection, ex)));
            }
        } finally {
            JdbcUtils.closeConnection(connection);
        }
    }

    private Connection lend(String doing, long end) {
        try {
            return PooledDataSource.lend(dataSource, atMost(end));
        } catch (SQLException ex) {
            throw notSent(doing, ex);
        }
    }

    private void prepare(String doing, Connection connection, RunningRequest request, long end) {
        try {
            NetworkTimeout.set(connection, atMost(end));
            sessions.prepare(connection);
            if (millisUntil(end) < SHORTEST_TIMEOUT_MILLIS) {
                throw new SQLTimeoutException("The request timed out before it could be sent");
            }
        } catch (SQLException ex) {
            throw notSent(doing, request.explained(UnsuitableConnectionException.explained(ex)));
        }
    }

    private RequestNotSentException notSent(String doing, SQLException error) {
        return new RequestNotSentException(sessions.translate(doing, error));
    }

    private Duration atMost(long end) {
        return Duration.ofMillis(Math.min(timeout.toMillis(), millisUntil(end)));
    }

    /** Returns at least 1, because 0 would mean no limit. */
    private long millisUntil(long end) {
        return Math.max(1, Duration.ofNanos(end - time.nanoTime()).toMillis());
    }
}
