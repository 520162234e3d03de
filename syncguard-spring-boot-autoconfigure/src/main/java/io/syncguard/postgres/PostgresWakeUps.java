package io.syncguard.postgres;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpMessages;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Hears whom releases wake, by {@code LISTEN} on a connection of its own and a channel that only this process has.
 *
 * <p>The thread {@code syncguard-listener} connects when somebody waits for the first time, and again whenever it has lost the
 * connection. Each time everybody who waits is looked at once: a wake-up may have been sent before it listened.
 */
final class PostgresWakeUps implements AutoCloseable {

    private static final Log log = LogFactory.getLog(PostgresWakeUps.class);

    /** After so long without a word the server is asked whether it is still there, 10 s. */
    private static final int SILENCE_MILLIS = 10_000;

    private static final int ANSWER_SECONDS = 2;

    /** The first pause before it connects again, 100 ms; it doubles up to five seconds. */
    private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(5).toNanos();

    private final String channel = "syncguard_" + UUID.randomUUID();
    private final PostgresSessions sessions;
    private final Duration timeout;
    private final WakeUpListener wakeUps;
    private final WakeUpMessages messages;
    private final Time time;
    private final Alarm alarm;

    /** Written by the listening thread, and read by all. */
    private volatile boolean connected;

    /** Written by the listening thread; aborted by the one that closes. */
    private volatile @Nullable Connection connection;

    private volatile boolean started;
    private volatile boolean closed;

    /** Of the listening thread alone. */
    private long pause = FIRST_PAUSE_NANOS;

    PostgresWakeUps(DataSource dataSource, Duration timeout, WakeUpListener wakeUps, Time time) {
        this.sessions = new PostgresSessions(dataSource, timeout);
        this.timeout = timeout;
        this.wakeUps = wakeUps;
        this.messages = new WakeUpMessages(wakeUps, time);
        this.time = time;
        this.alarm = new Alarm("syncguard-listener", time, this::listen);
    }

    /** Where this process is woken. */
    String channel() {
        return channel;
    }

    /** With which a waiter of this process is handed a key. */
    String secretOf(long waiter) {
        return messages.secretOf(waiter);
    }

    /** Has a connection made, if that was not done before. */
    void start() {
        if (!started) {
            started = true;
            alarm.ringAt(time.nanoTime());
        }
    }

    boolean isConnected() {
        return connected;
    }

    @Override
    public void close() {
        closed = true;
        alarm.close();
        abort(connection);
    }

    /** Listens until the connection is lost; answers when to try again. */
    private long listen() {
        Connection opened = null;
        try {
            opened = sessions.open(timeout.toMillis());
            connection = opened;
            PGConnection driver = opened.unwrap(PGConnection.class);
            try (Statement statement = opened.createStatement()) {
                statement.execute("LISTEN \"" + channel + "\"");
            }
            changeTo(true);
            pause = FIRST_PAUSE_NANOS;
            while (!closed) {
                hear(opened, driver.getNotifications(SILENCE_MILLIS));
            }
        } catch (SQLException ex) {
            report(ex);
        } finally {
            connection = null;
            changeTo(false);
            giveBack(opened);
        }
        long next = time.nanoTime() + pause;
        pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        return closed ? Time.NEVER : next;
    }

    private void hear(Connection opened, PGNotification @Nullable [] notifications) throws SQLException {
        if (notifications == null || notifications.length == 0) {
            if (!opened.isValid(ANSWER_SECONDS)) {
                throw new SQLException("The server does not answer");
            }
            return;
        }
        for (PGNotification notification : notifications) {
            messages.receive(notification.getParameter());
        }
    }

    private void changeTo(boolean now) {
        if (connected != now) {
            connected = now;
            log.debug(now ? "Wake-ups arrive" : "Wake-ups do not arrive");
            wakeUps.wakeUpsMissed();
        }
    }

    private void report(SQLException ex) {
        // Once per loss: from then on it is tried again and again.
        if (!closed && pause == FIRST_PAUSE_NANOS) {
            log.warn("Wake-ups from PostgreSQL do not arrive; who waits for a lock asks for it until they do", ex);
        }
    }

    /** Who closes this aborts the connection, and a pool complains about one that it gets back like that. */
    private void giveBack(@Nullable Connection lost) {
        if (lost != null && !closed) {
            try {
                lost.close();
            } catch (SQLException ex) {
                log.debug("The connection for wake-ups could not be given back", ex);
            }
        }
    }

    private static void abort(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.abort(Runnable::run);
            } catch (SQLException ex) {
                log.debug("The connection for wake-ups could not be closed", ex);
            }
        }
    }
}
