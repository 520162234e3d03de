package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The limit for locks that use statements: the same round trips and the same flush, without any work. */
final class EmptyStatements implements Contender {

    /** Writes a few bytes of WAL, which the commit flushes. */
    private static final String FLUSH = "SELECT pg_logical_emit_message(true, '', '')";

    private static final String NOTHING = "SELECT 1";

    /** The held keys. The server does not store them, because all contenders are in this process. */
    private static final Set<String> HELD = ConcurrentHashMap.newKeySet();

    private final HikariDataSource pool;

    EmptyStatements(HikariDataSource pool) {
        this.pool = pool;
    }

    @Override
    public boolean attempt(String key, Runnable body) throws SQLException {
        if (!HELD.add(key)) {
            run(NOTHING);
            return false;
        }
        try {
            run(FLUSH);
            body.run();
            run(NOTHING);
        } finally {
            HELD.remove(key);
        }
        return true;
    }

    @Override
    public void close() {
        pool.close();
    }

    private void run(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
        }
    }
}
