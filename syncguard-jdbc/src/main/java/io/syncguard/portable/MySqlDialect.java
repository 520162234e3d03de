package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** MariaDB from 10.6 on and MySQL from 8.0 on, with either driver. */
public final class MySqlDialect implements Dialect {

    /** The one mode that drivers follow. Others change what functions, empty texts and long texts mean. */
    private static final String ESCAPES = "NO_BACKSLASH_ESCAPES";

    /** The time in UTC, because a local time occurs twice when the clocks go back. */
    @Override
    public String clock() {
        return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000";
    }

    /**
     * A process that stops within a request, or is cut off, keeps its rows for two fifths of the timeout in MariaDB,
     * half as long as others wait for them. MySQL takes that limit for a comment.
     */
    @Override
    public List<String> sessionSettings(long timeoutMillis) {
        return List.of(
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                "SET SESSION sql_mode = IF(FIND_IN_SET('" + ESCAPES + "', @@sql_mode), 'STRICT_ALL_TABLES," + ESCAPES
                        + "', 'STRICT_ALL_TABLES')",
                "SET SESSION innodb_lock_wait_timeout = " + Math.max(1, timeoutMillis * 8 / 10 / 1000)
                        + " /*M! , idle_transaction_timeout = " + Math.max(1, timeoutMillis * 4 / 10 / 1000) + " */");
    }

    @Override
    public String insertKeys(String table, int keys) {
        return "INSERT IGNORE INTO " + table + " (lock_key, fence) VALUES "
                + Sql.rows(keys, 1).replace("(?)", "(?, 0)");
    }

    @Override
    public List<String> tables(PortableTables tables) {
        String id = "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin";
        String text = "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL";
        return List.of(
                "CREATE TABLE IF NOT EXISTS " + tables.keys()
                        + " (lock_key VARBINARY(512) PRIMARY KEY, fence BIGINT NOT NULL) ENGINE = InnoDB",
                "CREATE TABLE IF NOT EXISTS " + tables.leases() + " (lock_id " + id
                        + " PRIMARY KEY, lock_key VARBINARY(512) NOT NULL, mode VARCHAR(9) NOT NULL, owner " + text
                        + ", fence BIGINT NOT NULL, acquired_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, channel "
                        + id + ", waiter BIGINT NOT NULL, INDEX (lock_key), INDEX (channel)) ENGINE = InnoDB",
                "CREATE TABLE IF NOT EXISTS " + tables.waiters() + " (lock_id " + id
                        + " PRIMARY KEY, lock_key VARBINARY(512) NOT NULL, place BIGINT NOT NULL, mode VARCHAR(9) NOT"
                        + " NULL, permits INT NOT NULL, owner " + text + ", hand_over SMALLINT NOT NULL, channel " + id
                        + ", waiter BIGINT NOT NULL, woken BIGINT NOT NULL, arrived_at BIGINT NOT NULL, expires_at BIGINT NOT"
                        + " NULL, INDEX (lock_key, place), INDEX (channel, woken)) ENGINE = InnoDB");
    }

    @Override
    public boolean isOfDriver(Class<?> type) {
        return type.getName().startsWith("org.mariadb.jdbc.") || type.getName().startsWith("com.mysql.cj.jdbc.");
    }

    @Override
    public boolean accepts(String url) {
        return url.startsWith("jdbc:mariadb:") || url.startsWith("jdbc:mysql:");
    }

    @Override
    public void complete(HikariConfig details, Duration timeout, String applicationName) {
        if (details.getDataSource() == null) {
            String millis = String.valueOf(timeout.toMillis());
            details.addDataSourceProperty("connectTimeout", millis);
            details.addDataSourceProperty("socketTimeout", millis);
            details.addDataSourceProperty("tcpKeepAlive", "true");
            // A request is two statements or more, and the driver may send them in one round trip.
            details.addDataSourceProperty("allowMultiQueries", "true");
            details.addDataSourceProperty("useServerPrepStmts", "false");
        }
    }

    @Override
    public String storeOf(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT DATABASE()")) {
            rows.next();
            return "database '" + rows.getString(1) + "'";
        }
    }

    @Override
    public Session read(Connection connection) throws SQLException {
        int isolation = connection.getTransactionIsolation();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT CONCAT('SET SESSION sql_mode = ''', @@SESSION.sql_mode,"
                        + " ''', innodb_lock_wait_timeout = ',"
                        + " @@SESSION.innodb_lock_wait_timeout /*M! , ', idle_transaction_timeout = ',"
                        + " @@SESSION.idle_transaction_timeout */)")) {
            rows.next();
            String limits = rows.getString(1);
            return later -> {
                later.setTransactionIsolation(isolation);
                try (Statement setting = later.createStatement()) {
                    setting.execute(limits);
                }
            };
        }
    }
}
