package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** H2 from 2.2.220 on. */
public final class H2Dialect implements Dialect {

    private static final Log log = LogFactory.getLog(H2Dialect.class);

    @Override
    public boolean isOf(String product) {
        return product.equals("H2");
    }

    @Override
    public String scripts() {
        return "h2";
    }

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
    public void check(Connection connection) throws SQLException {
        DatabaseMetaData database = connection.getMetaData();
        String version = database.getDatabaseProductVersion();
        if (database.getDatabaseMajorVersion() < 2 || version.startsWith("2.0.") || version.startsWith("2.1.")) {
            throw LockSetupException.invalid(
                    "The DataSource leads to H2 " + version + ", which cannot skip locked rows",
                    "Use H2 2.2.220 or later");
        }
        if (database.getURL().startsWith("jdbc:h2:mem:")) {
            log.info("The locks are in the memory of this process: no other process sees them, and they end with it");
        }
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
