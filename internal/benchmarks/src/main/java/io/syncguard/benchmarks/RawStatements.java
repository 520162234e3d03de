package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * The simplest mutual exclusion: a row, in autocommit. It has no expiry and no owner, so a crash leaves a stale row.
 */
final class RawStatements implements Contender {

    static final String TABLE = "CREATE TABLE raw_locks (key TEXT PRIMARY KEY, owner TEXT NOT NULL)";

    private static final String INSERT =
            "INSERT INTO raw_locks (key, owner) VALUES (?, 'raw') ON CONFLICT (key) DO NOTHING";

    private static final String DELETE = "DELETE FROM raw_locks WHERE key = ?";

    private final HikariDataSource pool;

    RawStatements(HikariDataSource pool) {
        this.pool = pool;
    }

    @Override
    public boolean attempt(String key, Runnable body) throws SQLException {
        if (update(INSERT, key) == 0) {
            return false;
        }
        try {
            body.run();
        } finally {
            update(DELETE, key);
        }
        return true;
    }

    @Override
    public void close() {
        pool.close();
    }

    private int update(String sql, String key) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            return statement.executeUpdate();
        }
    }
}
