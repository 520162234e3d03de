package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.LockSetupException;
import io.syncguard.jdbc.DriverLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** MariaDB from 10.6 on and MySQL from 8.0 on, with either driver. */
public final class MySqlDialect implements Dialect {

    private static final Log log = LogFactory.getLog(MySqlDialect.class);

    /** The one mode that drivers follow. Others change what functions, empty texts and long texts mean. */
    private static final String ESCAPES = "NO_BACKSLASH_ESCAPES";

    @Override
    public boolean isOf(String product) {
        return product.equals("MariaDB") || product.equals("MySQL");
    }

    @Override
    public String scripts() {
        return "mysql";
    }

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

    /**
     * Such a query locks the entries of the index alone, because the index has all that it asks for. A heartbeat leaves
     * them as they are; a deletion marks them. Under {@code REPEATABLE READ} it locks the gap before an entry, too; new
     * leases stand behind it.
     */
    @Override
    public Pinning pinning() {
        return new Pinning(
                " FORCE INDEX (pin)",
                "LOCK IN SHARE MODE",
                "SELECT CONCAT_WS(' ', DATABASE(), @@hostname, @@port, @@server_id, @@datadir)");
    }

    @Override
    public void check(Connection connection) throws SQLException {
        Map<String, String> variables = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on',"
                        + " 'group_replication_group_name', 'read_only', 'innodb_flush_log_at_trx_commit',"
                        + " 'log_bin', 'sync_binlog', 'binlog_format', 'version')")) {
            while (rows.next()) {
                variables.put(rows.getString(1), rows.getString(2));
            }
        }
        requireVersion(variables.getOrDefault("version", "0.0"));
        if (variables.getOrDefault("wsrep_on", "OFF").equals("ON")
                || !variables.getOrDefault("group_replication_group_name", "").isEmpty()) {
            throw LockSetupException.invalid(
                    "The DataSource leads to a cluster (Galera or group replication), whose servers do not see each"
                            + " other's row locks: two callers could hold one lock",
                    "Keep the locks in a single server: mark a DataSource that leads there with @SyncGuardDataSource",
                    "Keep them in PostgreSQL or Redis");
        }
        if (variables.getOrDefault("read_only", "OFF").equals("ON")) {
            throw Dialect.replica();
        }
        boolean hasBinaryLog = variables.getOrDefault("log_bin", "OFF").equals("ON");
        if (hasBinaryLog && variables.getOrDefault("binlog_format", "ROW").equals("STATEMENT")) {
            throw LockSetupException.invalid(
                    "binlog_format is STATEMENT, with which the server refuses the transactions of locks",
                    "Set binlog_format to ROW or MIXED");
        }
        // MariaDB's 3 is its older, slower way to the disk.
        warnOfLateWrites(variables, "innodb_flush_log_at_trx_commit", Set.of("1", "3"));
        if (hasBinaryLog) {
            warnOfLateWrites(variables, "sync_binlog", Set.of("1"));
        }
    }

    private static void warnOfLateWrites(Map<String, String> variables, String name, Set<String> durable) {
        String value = variables.getOrDefault(name, "1");
        if (!durable.contains(value)) {
            log.warn(name + " is " + value
                    + ": after a crash of the server, the locks of its last second are free, and their fences are given"
                    + " again. Set it to 1");
        }
    }

    /** The first versions that skip locked rows. MySQL's driver takes MariaDB for an old MySQL. */
    private static void requireVersion(String version) {
        String[] parts = version.split("\\D+", 3);
        int number = Integer.parseInt(parts[0]) * 100 + Integer.parseInt(parts[1]);
        if (number < (version.contains("MariaDB") ? 1006 : 800)) {
            throw LockSetupException.invalid(
                    "The DataSource leads to a server of version " + version + ", which cannot skip locked rows",
                    "Use MariaDB 10.6 or MySQL 8.0, or later");
        }
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
            new DriverLimits(details).addForMySql(timeout);
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
