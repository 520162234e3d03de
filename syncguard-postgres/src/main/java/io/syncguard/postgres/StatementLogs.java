package io.syncguard.postgres;

import io.syncguard.concurrent.Chain;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Warns at the start of settings and proxies that may log lock ids. They are parameters of statements, and whoever
 * reads one can release its lock.
 */
final class StatementLogs {

    private static final Log log = LogFactory.getLog(StatementLogs.class);

    /** Pools and the driver log no parameters. */
    private static final List<String> SILENT = List.of(
            "org.postgresql.",
            "com.zaxxer.hikari.",
            "org.apache.commons.dbcp2.",
            "org.apache.tomcat.jdbc.pool.",
            "com.mchange.v2.c3p0.",
            "io.agroal.pool.",
            "oracle.ucp.",
            "org.springframework.jdbc.datasource.");

    /** The logger of the driver logs parameters at FINEST. */
    private static final Logger DRIVER = Logger.getLogger("org.postgresql.core.v3.QueryExecutorImpl");

    /** Returns the settings that log parameters. Settings of an extension that is not loaded have no row. */
    private static final String SETTINGS = """
        WITH s AS (SELECT name, setting FROM pg_catalog.pg_settings),
             sizes AS (SELECT coalesce(max(setting) FILTER (WHERE name = 'log_parameter_max_length'), '-1') AS logged,
             coalesce(max(setting) FILTER (WHERE name = 'auto_explain.log_parameter_max_length'), '-1') AS explained,
             coalesce(max(setting) FILTER (WHERE name = 'pgaudit.log_parameter'), 'off') AS audited FROM s)
        SELECT name || ' = ' || setting FROM s, sizes
        WHERE logged <> '0' AND (name = 'log_statement' AND setting IN ('mod', 'all')
              OR name IN ('log_min_duration_statement', 'log_min_duration_sample') AND setting <> '-1'
              OR name = 'log_transaction_sample_rate' AND setting <> '0')
           OR explained <> '0' AND name = 'auto_explain.log_min_duration' AND setting <> '-1'
           OR audited = 'on' AND name = 'pgaudit.log' AND setting NOT IN ('', 'none')
        ORDER BY name
        """;

    private StatementLogs() {}

    static void check(Connection connection) throws SQLException {
        List<String> proxies = proxies(connection);
        if (!proxies.isEmpty()) {
            log.warn("Between SyncGuard and the driver of PostgreSQL is " + String.join(", ", proxies)
                    + ". It sees lock ids, which are parameters of statements: whoever reads one in its log may end the"
                    + " lock. Let it log no parameters, or give SyncGuard a DataSource without it");
        }
        if (DRIVER.isLoggable(Level.FINEST)) {
            log.warn("The driver of PostgreSQL logs lock ids, which are parameters of statements: whoever reads one may"
                    + " end the lock. Set a higher level than FINEST for its logger 'org.postgresql'");
        }
        List<String> settings = settings(connection);
        if (!settings.isEmpty()) {
            log.warn("PostgreSQL logs lock ids, which are parameters of statements, because of "
                    + String.join(", ", settings) + ": whoever reads one may end the lock. Let it log no parameters of"
                    + " this user: see docs/security.md");
        }
    }

    /** The classes of the connection's layers, without pools and the driver. */
    private static List<String> proxies(Connection connection) {
        return Chain.of(connection, StatementLogs::beneath)
                .map(StatementLogs::nameOf)
                .filter(name -> Stream.of("java.", "jdk.").noneMatch(name::startsWith))
                .filter(name -> SILENT.stream().noneMatch(name::startsWith))
                .distinct()
                .toList();
    }

    private static @Nullable Connection beneath(Connection layer) {
        try {
            return layer.isWrapperFor(Connection.class) ? layer.unwrap(Connection.class) : null;
        } catch (SQLException ex) {
            log.debug("A layer of the connection does not say what it wraps", ex);
            return null;
        }
    }

    private static String nameOf(Connection layer) {
        return (Proxy.isProxyClass(layer.getClass()) ? Proxy.getInvocationHandler(layer) : layer)
                .getClass()
                .getName();
    }

    private static List<String> settings(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(SETTINGS)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        }
    }
}
