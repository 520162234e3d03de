package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.springframework.jdbc.core.JdbcTemplate;

/** Receives the wake-ups of the database for all waiters. */
final class RaceNotifications implements AutoCloseable {

    /** The channel of the waiters of all backends. */
    private static final String CHANNEL = "race";

    /** A number that no waiter has. */
    private static final String LAST = "0";

    private final Connection listener;

    RaceNotifications(JdbcTemplate jdbc, Connection listener) throws SQLException {
        this.listener = listener;
        jdbc.execute("""
                CREATE FUNCTION race_channel() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                BEGIN
                    NEW.channel := '%s';
                    RETURN NEW;
                END
                $$;
                CREATE TRIGGER race_channel BEFORE INSERT ON syncguard_locks_waiters
                    FOR EACH ROW EXECUTE FUNCTION race_channel()
                """.formatted(CHANNEL));
        send("LISTEN " + CHANNEL);
    }

    /** Returns the waiters that were woken since the last call, in the order of their numbers. */
    List<Long> woken() throws SQLException {
        // Notifications arrive in the order of the commits.
        send("NOTIFY " + CHANNEL + ", '" + LAST + "'");
        List<Long> woken = new ArrayList<>();
        while (true) {
            PGNotification[] arrived = listener.unwrap(PGConnection.class).getNotifications(60_000);
            assertThat(arrived).as("notifications, at least the last").isNotEmpty();
            for (PGNotification notification : arrived) {
                if (notification.getParameter().equals(LAST)) {
                    Collections.sort(woken);
                    return woken;
                }
                woken.add(Long.parseLong(notification.getParameter().split(" ")[0]));
            }
        }
    }

    private void send(String sql) throws SQLException {
        try (Statement statement = listener.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() throws SQLException {
        listener.close();
    }
}
