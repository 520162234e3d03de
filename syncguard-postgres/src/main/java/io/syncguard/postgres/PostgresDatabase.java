package io.syncguard.postgres;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.jdbc.DriverLimits;
import io.syncguard.jdbc.JdbcDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.CommonDataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.ds.common.BaseDataSource;

/** What connections to PostgreSQL need. */
public final class PostgresDatabase implements JdbcDatabase {

    /** The answer stays the same after a restart and a failover. */
    private static final String STORE = """
            SELECT pg_catalog.format('database ''%s'' of server %s', pg_catalog.current_database(), system_identifier)
            FROM pg_catalog.pg_control_system()
            """;

    /** What was set in the session. The view lacks the role. */
    private static final String SETTINGS = """
            SELECT s.name, pg_catalog.current_setting(s.name) FROM pg_catalog.pg_settings s
            WHERE s.source OPERATOR(pg_catalog.=) 'session'
            UNION ALL SELECT 'role', pg_catalog.current_setting('role')
            """;

    /** A pooler may use another session now, whose settings are those of others. */
    private static final String RESTORE = """
            SELECT pg_catalog.set_config(s.name, COALESCE(b.value, s.reset_val), false)
            FROM (SELECT name, reset_val FROM pg_catalog.pg_settings WHERE source OPERATOR(pg_catalog.=) 'session'
                UNION ALL SELECT 'role', 'none') s
            LEFT JOIN ROWS FROM (pg_catalog.unnest(?::pg_catalog.text[]), pg_catalog.unnest(?::pg_catalog.text[]))
                AS b(name, value) ON b.name OPERATOR(pg_catalog.=) s.name
            WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) ?
            """;

    @Override
    public boolean isOfDriver(Class<?> type) {
        return type.getName().startsWith("org.postgresql.");
    }

    @Override
    public boolean accepts(String url) {
        return url.startsWith("jdbc:postgresql:");
    }

    @Override
    public @Nullable Login loginOf(CommonDataSource source) {
        return source instanceof BaseDataSource driver
                ? new Login(driver.getUrl(), driver.getUser(), driver.getPassword())
                : null;
    }

    @Override
    public void complete(HikariConfig details, Duration timeout, String applicationName) {
        PostgresConnectionName.addTo(details, applicationName);
        if (details.getDataSource() == null) {
            new DriverLimits(details).addForPostgres(timeout);
            details.addDataSourceProperty("tcpKeepAlive", "true");
        }
    }

    @Override
    public void completeForWakeUps(HikariConfig details) {
        WakeUpSocket.addTo(details);
    }

    @Override
    public @Nullable Connection ofDriver(Connection connection) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            return null;
        }
        return connection.unwrap(PGConnection.class) instanceof Connection driver ? driver : connection;
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
        List<String> names = new ArrayList<>();
        List<String> values = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(SETTINGS)) {
            while (rows.next()) {
                names.add(rows.getString(1));
                values.add(rows.getString(2));
            }
        }
        return later -> restore(later, names, values);
    }

    private static void restore(Connection connection, List<String> names, List<String> values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RESTORE)) {
            statement.setArray(1, connection.createArrayOf("text", names.toArray()));
            statement.setArray(2, connection.createArrayOf("text", values.toArray()));
            statement.setInt(3, connection.unwrap(PGConnection.class).getBackendPID());
            statement.execute();
        }
    }
}
