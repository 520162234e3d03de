package io.syncguard.postgres;

import io.syncguard.concurrent.Time;
import io.syncguard.spi.WakeUpSubscriber;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Listens to one channel by {@code LISTEN}, on a connection of its own.
 *
 * <p>A pooler in transaction mode accepts the {@code LISTEN} and delivers no notification, except perhaps one that the
 * connection sends to itself, with the answer.
 */
final class PostgresSubscription implements WakeUpSubscriber.Subscription {

    private static final Log log = LogFactory.getLog(PostgresSubscription.class);

    private static final int ANSWER_SECONDS = 2;

    private static final String NOTIFY = "SELECT pg_catalog.pg_notify(?::TEXT, ?::TEXT)";

    private final String channel;
    private final PostgresSessions sessions;
    private final PostgresConnections others;

    private volatile @Nullable Connection connection;
    private Consumer<String> receiver = message -> {};

    /**
     * @param channel the name of the channel
     * @param sessions gives the connection that listens
     * @param others sends messages on another connection
     */
    PostgresSubscription(String channel, PostgresSessions sessions, PostgresConnections others) {
        this.channel = channel;
        this.sessions = sessions;
        this.others = others;
    }

    @Override
    public void open(Consumer<String> to) throws SQLException {
        receiver = to;
        Connection opened = sessions.getConnection();
        connection = opened;
        execute(opened, "LISTEN");
    }

    private void execute(Connection opened, String command) throws SQLException {
        try (Statement statement = opened.createStatement()) {
            statement.execute(command + " \"" + channel + "\"");
        } catch (SQLException ex) {
            if (SqlState.of(ex) == SqlState.READ_ONLY) {
                abort();
            }
            throw ex;
        }
    }

    @Override
    public int send(String message) {
        others.query(
                "testing whether wake-ups arrive",
                NOTIFY,
                (sender, statement) -> {
                    statement.setString(1, channel);
                    statement.setString(2, message);
                },
                rows -> true);
        return 1;
    }

    @Override
    public void listen(CompletableFuture<?> until, Duration atMost) throws SQLException {
        PGConnection driver = open().unwrap(PGConnection.class);
        long end = Time.SYSTEM.nanoTime() + atMost.toNanos();
        for (long left = atMost.toMillis(); !until.isDone() && left > 0; left = millisUntil(end)) {
            PGNotification[] notifications = driver.getNotifications((int) left);
            for (PGNotification each : notifications == null ? new PGNotification[0] : notifications) {
                receiver.accept(each.getParameter());
            }
        }
    }

    private static long millisUntil(long end) {
        return TimeUnit.NANOSECONDS.toMillis(end - Time.SYSTEM.nanoTime());
    }

    @Override
    public void ping() throws SQLException {
        if (!open().isValid(ANSWER_SECONDS)) {
            throw new SQLException("The server does not answer");
        }
    }

    private Connection open() throws SQLException {
        Connection current = connection;
        if (current == null) {
            throw new SQLException("The connection was closed");
        }
        return current;
    }

    /** Unsubscribes, because a pooler lends the session to another client next. A pool would lend the connection. */
    @Override
    public void distrust() throws SQLException {
        try {
            execute(open(), "UNLISTEN");
        } finally {
            abort();
        }
    }

    @Override
    public void close() {
        Connection lost = connection;
        connection = null;
        if (lost != null) {
            try {
                lost.close();
            } catch (Throwable ex) {
                log.debug("The connection for wake-ups could not be returned", ex);
            }
        }
    }

    /** Does not return the connection to the pool, which would complain about an aborted one. */
    @Override
    public void abort() {
        Connection current = connection;
        if (current != null) {
            try {
                current.abort(Runnable::run);
            } catch (Throwable ex) {
                log.debug("The connection for wake-ups could not be closed", ex);
            }
        }
    }
}
