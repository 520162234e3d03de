package io.syncguard.postgres;

import io.syncguard.spi.WakeUpSubscriber;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Listens to one channel by {@code LISTEN}, on a connection of its own.
 *
 * <p>A pooler in transaction mode accepts the {@code LISTEN} and delivers no notification. So each connection is tested
 * with a notification from another connection. A notification from itself could arrive even through such a pooler, with
 * the answer.
 */
final class PostgresSubscription implements WakeUpSubscriber.Subscription {

    private static final Log log = LogFactory.getLog(PostgresSubscription.class);

    /** After 10 s without a notification, the thread asks whether the server still answers. */
    private static final int CHECK_AFTER_MILLIS = 10_000;

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
     * @param others sends the test on another connection
     */
    PostgresSubscription(String channel, PostgresSessions sessions, PostgresConnections others) {
        this.channel = channel;
        this.sessions = sessions;
        this.others = others;
    }

    @Override
    public boolean open(Consumer<String> to) throws SQLException {
        receiver = to;
        Connection opened = sessions.getConnection();
        connection = opened;
        execute(opened, "LISTEN");
        boolean arrives = testArrives(opened.unwrap(PGConnection.class));
        if (!arrives) {
            // The pooler lends the session to another client next.
            execute(opened, "UNLISTEN");
        }
        return arrives;
    }

    private void execute(Connection opened, String command) throws SQLException {
        try (Statement statement = opened.createStatement()) {
            statement.execute(command + " \"" + channel + "\"");
        } catch (SQLException ex) {
            if (PostgresErrors.isReadOnly(ex)) {
                abort();
            }
            throw ex;
        }
    }

    private boolean testArrives(PGConnection driver) throws SQLException {
        String test = UUID.randomUUID().toString();
        others.query(
                "testing whether wake-ups arrive",
                NOTIFY,
                (sender, statement) -> {
                    statement.setString(1, channel);
                    statement.setString(2, test);
                },
                rows -> true);
        boolean arrived = false;
        PGNotification[] notifications = null;
        do {
            notifications = driver.getNotifications(ANSWER_SECONDS * 1000);
            arrived = receive(notifications, test);
        } while (!arrived && hasAny(notifications));
        return arrived;
    }

    @Override
    public void listen() throws SQLException {
        Connection current = connection;
        if (current == null) {
            throw new SQLException("The connection was closed");
        }
        PGNotification[] notifications = current.unwrap(PGConnection.class).getNotifications(CHECK_AFTER_MILLIS);
        receive(notifications, null);
        if (!hasAny(notifications) && !current.isValid(ANSWER_SECONDS)) {
            throw new SQLException("The server does not answer");
        }
    }

    /** Delivers notifications, and returns whether the test was among them. */
    private boolean receive(PGNotification @Nullable [] notifications, @Nullable String test) {
        boolean tested = false;
        for (PGNotification notification : notifications == null ? new PGNotification[0] : notifications) {
            if (notification.getParameter().equals(test)) {
                tested = true;
            } else {
                receiver.accept(notification.getParameter());
            }
        }
        return tested;
    }

    private static boolean hasAny(PGNotification @Nullable [] notifications) {
        return notifications != null && notifications.length > 0;
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
