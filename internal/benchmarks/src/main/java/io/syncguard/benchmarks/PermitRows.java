package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A semaphore as people write it: a row for each permit. A caller takes a permit by an update, in autocommit, of a row
 * that no other session locks. It has no order of arrival, extends no permit and wakes no waiter.
 */
final class PermitRows implements PermitContender {

    static final String TABLE = """
            CREATE TABLE permits (
                key TEXT, place INT, holder TEXT, expires_at TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
                PRIMARY KEY (key, place))
            """;

    private static final String CREATE = """
            INSERT INTO permits (key, place) SELECT ?, place FROM generate_series(1, ?) AS place ON CONFLICT DO NOTHING
            """;

    private static final String TAKE = """
            UPDATE permits SET holder = ?, expires_at = clock_timestamp() + ? * interval '1 ms'
            WHERE (key, place) = (
                SELECT key, place FROM permits WHERE key = ? AND expires_at < clock_timestamp()
                LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING place
            """;

    private static final String GIVE =
            "UPDATE permits SET expires_at = '-infinity' WHERE key = ? AND place = ? AND holder = ?";

    private final HikariDataSource pool;
    private final Duration idle;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    /** @param idle the pause between two attempts of a waiter */
    PermitRows(HikariDataSource pool, Duration idle) {
        this.pool = pool;
        this.idle = idle;
    }

    @Override
    public boolean attempt(String key, Runnable body) throws SQLException {
        return attempt(key, TTL, body);
    }

    @Override
    public void await(String key, Duration ttl, Runnable body) throws SQLException, InterruptedException {
        while (!attempt(key, ttl, body)) {
            TimeUnit.NANOSECONDS.sleep(idle.toNanos());
        }
    }

    @Override
    public void close() {
        pool.close();
    }

    private boolean attempt(String key, Duration ttl, Runnable body) throws SQLException {
        String holder = UUID.randomUUID().toString();
        Integer place = take(key, ttl, holder);
        if (place == null) {
            return false;
        }
        try {
            body.run();
        } finally {
            give(key, place, holder);
        }
        return true;
    }

    private @Nullable Integer take(String key, Duration ttl, String holder) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            if (known.add(key)) {
                create(connection, key);
            }
            try (PreparedStatement statement = connection.prepareStatement(TAKE)) {
                statement.setString(1, holder);
                statement.setLong(2, ttl.toMillis());
                statement.setString(3, key);
                try (ResultSet rows = statement.executeQuery()) {
                    return rows.next() ? rows.getInt(1) : null;
                }
            }
        }
    }

    private static void create(Connection connection, String key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CREATE)) {
            statement.setString(1, key);
            statement.setInt(2, PERMITS);
            statement.executeUpdate();
        }
    }

    /** Returns a permit, unless it has expired and has another holder. */
    private void give(String key, int place, String holder) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(GIVE)) {
            statement.setString(1, key);
            statement.setInt(2, place);
            statement.setString(3, holder);
            statement.executeUpdate();
        }
    }
}
