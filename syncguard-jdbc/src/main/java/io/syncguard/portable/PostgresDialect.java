package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.jdbc.DriverLimits;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** PostgreSQL from 12 on, where a role may create no functions. The functions take fewer round trips. */
public final class PostgresDialect implements Dialect {

    private static final Map<String, String> SETTINGS = Map.of(
            "default_transaction_isolation", "read committed",
            "default_transaction_read_only", "off",
            // A grant is on disk before its answer is sent.
            "synchronous_commit", "on",
            // A plan that was cached while the tables were empty stays in use while they grow.
            "enable_seqscan", "off");

    private static final String LIMIT = "lock_timeout";
    private static final String IDLE_LIMIT = "idle_in_transaction_session_timeout";

    private static final String STORE = """
            SELECT format('database ''%s'' of server %s', current_database(), system_identifier)
            FROM pg_control_system()
            """;

    @Override
    public boolean isOf(String product) {
        return product.equals("PostgreSQL");
    }

    @Override
    public String scripts() {
        return "postgresql";
    }

    /** The time of the call. The start of a statement may be before it waited for a row. */
    @Override
    public String clock() {
        return "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)";
    }

    /**
     * A process that stops within a request, or is cut off, keeps its rows for two fifths of the timeout, half as long
     * as others wait for them.
     */
    @Override
    public List<String> sessionSettings(long timeoutMillis) {
        return Stream.concat(
                        SETTINGS.entrySet().stream().map(each -> set(each.getKey(), each.getValue())),
                        Stream.of(
                                set(LIMIT, String.valueOf(timeoutMillis * 8 / 10)),
                                set(IDLE_LIMIT, String.valueOf(timeoutMillis * 4 / 10))))
                .toList();
    }

    private static String set(String name, String value) {
        return "SET " + name + " = '" + value + "'";
    }

    @Override
    public String insertKeys(String table, int keys) {
        return "INSERT INTO " + table + " (lock_key, fence) VALUES "
                + Sql.rows(keys, 1).replace("(?)", "(?, 0)") + " ON CONFLICT DO NOTHING";
    }

    @Override
    public void check(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT pg_is_in_recovery()")) {
            if (rows.next() && rows.getBoolean(1)) {
                throw Dialect.replica();
            }
        }
    }

    @Override
    public boolean isOfDriver(Class<?> type) {
        return type.getName().startsWith("org.postgresql.");
    }

    @Override
    public boolean accepts(String url) {
        return url.startsWith("jdbc:postgresql:");
    }

    @Override
    public void complete(HikariConfig details, Duration timeout, String applicationName) {
        if (details.getDataSource() == null) {
            new DriverLimits(details).addForPostgres(timeout);
            details.addDataSourceProperty("tcpKeepAlive", "true");
        }
    }

    @Override
    public String storeOf(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(STORE)) {
            rows.next();
            return rows.getString(1);
        }
    }

    @Override
    public Session read(Connection connection) throws SQLException {
        Map<String, String> before = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement("SELECT current_setting(?)")) {
            for (String name : Stream.concat(SETTINGS.keySet().stream(), Stream.of(LIMIT, IDLE_LIMIT))
                    .toList()) {
                statement.setString(1, name);
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    before.put(name, rows.getString(1));
                }
            }
        }
        return later -> {
            try (Statement setting = later.createStatement()) {
                for (Map.Entry<String, String> each : before.entrySet()) {
                    setting.execute(set(each.getKey(), each.getValue()));
                }
            }
        };
    }
}
