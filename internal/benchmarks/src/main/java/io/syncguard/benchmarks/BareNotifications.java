package io.syncguard.benchmarks;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * One of two partners that notify each other only by {@code NOTIFY}: one connection listens through the driver's
 * {@code getNotifications}, another notifies in autocommit. Two processes that wait for each other need at least this.
 */
final class BareNotifications {

    private static final int PATIENCE_MILLIS = (int) TimeUnit.MINUTES.toMillis(1);

    private final PGConnection listener;
    private final PreparedStatement notify;

    private BareNotifications(String url, String listenChannel, String notifyChannel) throws SQLException {
        Connection listening = DriverManager.getConnection(url);
        try (Statement statement = listening.createStatement()) {
            statement.execute("LISTEN " + listenChannel);
        }
        this.listener = listening.unwrap(PGConnection.class);
        this.notify = DriverManager.getConnection(url).prepareStatement("NOTIFY " + notifyChannel);
    }

    /** Opens the partner that calls. */
    static BareNotifications caller(String url) throws SQLException {
        return new BareNotifications(url, "echo", "call");
    }

    /** Starts the partner that answers each call. */
    static void echo(String url) throws SQLException {
        BareNotifications echo = new BareNotifications(url, "call", "echo");
        Thread thread = new Thread(echo::answer, "echo");
        thread.setDaemon(true);
        thread.start();
    }

    /** Calls, and returns the time until the echo arrived, in nanoseconds. It is the time of two notifications. */
    long call() throws SQLException {
        long began = System.nanoTime();
        notify.execute();
        if (!awaitNotification()) {
            throw new IllegalStateException("No echo");
        }
        return System.nanoTime() - began;
    }

    private void answer() {
        try {
            while (true) {
                if (awaitNotification()) {
                    notify.execute();
                }
            }
        } catch (SQLException ex) {
            // The server has ended. Either the measurement is over, or the caller reports the failure.
        }
    }

    private boolean awaitNotification() throws SQLException {
        PGNotification[] received = listener.getNotifications(PATIENCE_MILLIS);
        return received != null && received.length > 0;
    }
}
