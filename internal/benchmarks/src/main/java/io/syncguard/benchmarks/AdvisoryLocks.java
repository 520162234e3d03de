package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * PostgreSQL's session-level advisory locks. A lock belongs to a connection, which is kept until the release. The
 * server knows a lock by 64 bits: a hash of the key.
 */
final class AdvisoryLocks implements WaitingContender {

    private static final String TRY = "SELECT pg_try_advisory_lock(?)";

    /** Waits at the server without a limit. The function returns an empty value that is not null, so this is true. */
    private static final String WAIT = "SELECT pg_advisory_lock(?) IS NOT NULL";

    private static final String UNLOCK = "SELECT pg_advisory_unlock(?)";

    private final HikariDataSource pool;

    AdvisoryLocks(HikariDataSource pool) {
        this.pool = pool;
    }

    /** Uses the statement that does not wait: the waiting one costs the same, and most users do not wait. */
    @Override
    public void pair(String key) throws SQLException {
        if (!attempt(key, () -> {})) {
            throw new IllegalStateException("Refused on a free key: " + key);
        }
    }

    @Override
    public boolean attempt(String key, Runnable body) throws SQLException {
        return run(TRY, key, body);
    }

    @Override
    public void await(String key, Runnable body) throws SQLException {
        run(WAIT, key, body);
    }

    @Override
    public void close() {
        pool.close();
    }

    private boolean run(String acquire, String key, Runnable body) throws SQLException {
        long id = id(key);
        try (Connection connection = pool.getConnection()) {
            if (!ask(connection, acquire, id)) {
                return false;
            }
            try {
                body.run();
            } finally {
                if (!ask(connection, UNLOCK, id)) {
                    throw new IllegalStateException("The session did not hold " + key);
                }
            }
            return true;
        }
    }

    private static boolean ask(Connection connection, String sql, long id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, id);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() && rows.getBoolean(1);
            }
        }
    }

    private static long id(String key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
