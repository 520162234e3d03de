package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** H2 from 2.2.220 on. */
public final class H2Dialect implements Dialect {

    /** Its clock stands still within a transaction, from the first look on. */
    @Override
    public String clock() {
        return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(3)) * 1000 AS BIGINT)";
    }

    /** Some of its modes know no {@code LIMIT}. */
    @Override
    public String limit() {
        return "FETCH FIRST ? ROWS ONLY";
    }

    @Override
    public List<String> sessionSettings(long timeoutMillis) {
        return List.of(
                "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
                "SET LOCK_TIMEOUT " + timeoutMillis * 8 / 10);
    }

    @Override
    public String insertKeys(String table, int keys) {
        return "MERGE INTO " + table + " t USING (VALUES " + Sql.rows(keys, 1).replace("?", "CAST(? AS VARBINARY)")
                + ") AS s(lock_key) ON t.lock_key = s.lock_key WHEN NOT MATCHED THEN INSERT (lock_key, fence)"
                + " VALUES (s.lock_key, 0)";
    }

    @Override
    public List<String> tables(PortableTables tables) {
        return List.of(
                "CREATE TABLE IF NOT EXISTS " + tables.keys()
                        + " (lock_key VARBINARY(512) PRIMARY KEY, fence BIGINT NOT NULL)",
                "CREATE TABLE IF NOT EXISTS " + tables.leases()
                        + " (lock_id VARCHAR(64) PRIMARY KEY, lock_key VARBINARY(512) NOT NULL, mode VARCHAR(9) NOT"
                        + " NULL, owner VARCHAR(255) NOT NULL, fence BIGINT NOT NULL, acquired_at BIGINT NOT NULL,"
                        + " expires_at BIGINT NOT NULL, channel VARCHAR(64), waiter BIGINT NOT NULL)",
                "CREATE INDEX IF NOT EXISTS " + tables.leases() + "_key ON " + tables.leases() + " (lock_key)",
                "CREATE INDEX IF NOT EXISTS " + tables.leases() + "_channel ON " + tables.leases() + " (channel)",
                "CREATE TABLE IF NOT EXISTS " + tables.waiters()
                        + " (lock_id VARCHAR(64) PRIMARY KEY, lock_key VARBINARY(512) NOT NULL, place BIGINT NOT NULL,"
                        + " mode VARCHAR(9) NOT NULL, permits INT NOT NULL, owner VARCHAR(255) NOT NULL, hand_over"
                        + " SMALLINT NOT NULL, channel VARCHAR(64), waiter BIGINT NOT NULL, woken BIGINT NOT NULL,"
                        + " arrived_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)",
                "CREATE INDEX IF NOT EXISTS " + tables.waiters() + "_key ON " + tables.waiters() + " (lock_key, place)",
                "CREATE INDEX IF NOT EXISTS " + tables.waiters() + "_channel ON " + tables.waiters()
                        + " (channel, woken)");
    }

    @Override
    public boolean isOfDriver(Class<?> type) {
        return type.getName().startsWith("org.h2.");
    }

    @Override
    public boolean accepts(String url) {
        return url.startsWith("jdbc:h2:");
    }

    @Override
    public void complete(HikariConfig details, Duration timeout, String applicationName) {}

    @Override
    public String storeOf(Connection connection) throws SQLException {
        return "database '" + connection.getCatalog() + "'";
    }

    @Override
    public Session read(Connection connection) throws SQLException {
        int isolation = connection.getTransactionIsolation();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("CALL LOCK_TIMEOUT()")) {
            rows.next();
            String limit = "SET LOCK_TIMEOUT " + rows.getLong(1);
            return later -> {
                later.setTransactionIsolation(isolation);
                try (Statement setting = later.createStatement()) {
                    setting.execute(limit);
                }
            };
        }
    }
}
