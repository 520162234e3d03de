package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.DriverDataSource;
import com.zaxxer.hikari.util.PropertyElf;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.util.ClassUtils;

/**
 * Opens each connection with the details that the application's {@code DataSource} has at that moment. If they are
 * unknown, the application lends its connections. So locks follow a target that was replaced, and never have less than
 * the application's own connections. Thread-safe.
 */
final class ConnectionSource {

    private static final Log log = LogFactory.getLog(ConnectionSource.class);

    private final JdbcDatabase database;
    private final DataSource application;
    private final boolean dedicated;
    private final int connections;
    private final String poolSize;

    /** What was decided last. */
    private volatile @Nullable Decision last;

    private record Decision(DataSourceTarget target, boolean lends) {}

    /**
     * @param poolSize the property that sets how many connections callers share
     * @param dedicated whether the application uses this DataSource only for locks
     * @param connections maximum number of connections that the application lends
     */
    ConnectionSource(
            JdbcDatabase database, DataSource application, boolean dedicated, int connections, String poolSize) {
        this.database = database;
        this.poolSize = poolSize;
        this.application = application;
        this.dedicated = dedicated;
        this.connections = connections;
    }

    /** Returns the URL with which all connections are opened, if nothing can replace it. */
    @Nullable
    String fixedUrl() {
        DataSourceTarget target = DataSourceTarget.of(application);
        HikariDataSource pool = target.pool();
        return pool != null && target.inner() == application && target.isPool() && connectsByUrl(pool)
                ? pool.getJdbcUrl()
                : null;
    }

    /** Copies how long a connection of the application's pool lives. */
    void copyLifetimes(HikariConfig config) {
        HikariDataSource pool = DataSourceTarget.of(application).pool();
        if (pool != null) {
            ConnectionDetails.copyLifetimes(pool, config);
        }
    }

    /** Decides at the start, so that its log shows a warning. The first connection reports an error. */
    boolean lends() {
        try {
            return decision().lends();
        } catch (LockSetupException ex) {
            throw ex;
        } catch (SQLException | RuntimeException ex) {
            log.debug("The DataSource gives no connection", ex);
            return false;
        }
    }

    /**
     * @param completion adds what only connections of the library have
     * @param timeout maximum wait for the server
     */
    DataSource with(Consumer<HikariConfig> completion, Duration timeout) {
        return new AbstractDataSource() {
            /** HikariCP would set that of the application's DataSource, or of all drivers of the process. */
            @Override
            public void setLoginTimeout(int seconds) {}

            /** How long a pool that closes waits for a connection that it opens. */
            @Override
            public int getLoginTimeout() {
                return (int) Math.max(1, timeout.toSeconds());
            }

            @Override
            public Connection getConnection() throws SQLException {
                return connection(completion);
            }

            @Override
            public Connection getConnection(String username, String password) throws SQLException {
                throw new SQLFeatureNotSupportedException();
            }
        };
    }

    private Connection connection(Consumer<HikariConfig> completion) throws SQLException {
        Decision decision = decision();
        HikariConfig details = decision.lends() ? null : detailsOf(decision.target());
        if (details == null) {
            return LentConnection.of(application.getConnection(), database);
        }
        completion.accept(details);
        return open(details);
    }

    private @Nullable HikariConfig detailsOf(DataSourceTarget target) {
        HikariDataSource pool = target.pool();
        return pool == null ? ConnectionDetails.of(target.inner(), database) : ConnectionDetails.copyOf(pool);
    }

    private Decision decision() throws SQLException {
        DataSourceTarget target = DataSourceTarget.of(application);
        Decision known = last;
        if (known == null || !known.target().equals(target)) {
            known = new Decision(target, lends(target));
            last = known;
        }
        return known;
    }

    private boolean lends(DataSourceTarget target) throws SQLException {
        HikariDataSource pool = target.pool();
        if (pool == null
                ? ConnectionDetails.of(target.inner(), database) != null
                : target.isPool() && isConfigured(pool)) {
            return false;
        }
        if (pool != null && dedicated) {
            requireSize(pool);
            return true;
        }
        try (Connection connection = target.inner().getConnection()) {
            MockDataSource.refuse(connection);
            if (pool != null && isOf(pool, CompleteConnection.of(connection, database))) {
                if (target.isBypassed()) {
                    warnOfBypassing(target.inner().getClass());
                }
                return false;
            }
        }
        if (!dedicated) {
            warnOfLending(
                    pool == null
                            ? "read"
                            : "used, because its connections are not those of "
                                    + pool.getClass().getName());
        }
        return true;
    }

    /** A mock is not. */
    private static boolean isConfigured(HikariDataSource pool) {
        return Stream.of(
                        pool.getJdbcUrl(),
                        pool.getDataSource(),
                        pool.getDataSourceClassName(),
                        pool.getDataSourceJNDI())
                .anyMatch(Objects::nonNull);
    }

    private void requireSize(HikariDataSource pool) {
        if (pool.getMaximumPoolSize() < connections) {
            throw LockSetupException.invalid(
                    "The DataSource that is marked with @SyncGuardDataSource has a pool of " + pool.getMaximumPoolSize()
                            + " connections, and locks need " + connections,
                    "Set its maximum-pool-size to " + connections,
                    "Set a smaller " + poolSize);
        }
    }

    private void warnOfBypassing(Class<?> wrapper) {
        log.warn("Connections for locks bypass " + wrapper.getName() + ", because they do not come from the pool of the"
                + " application: what it adds to a connection, such as traces or tokens, is missing for them. To keep"
                + " it, wrap a second DataSource, and mark that with @SyncGuardDataSource");
    }

    private void warnOfLending(String problem) {
        log.warn("The connection details of " + application.getClass().getName() + " cannot be " + problem
                + ": SyncGuard keeps up to " + connections + " connections of that DataSource. If that is a pool, make"
                + " it larger by so many, or give SyncGuard a DataSource of its own with @SyncGuardDataSource");
    }

    /**
     * Whether the pool has opened this connection. Its class may open others, and a wrapper may have another source.
     * HikariCP shows its connections nowhere else.
     */
    private boolean isOf(HikariDataSource pool, Connection connection) {
        try {
            Connection driver = database.ofDriver(connection);
            if (driver != null
                    && new DirectFieldAccessor(pool).getPropertyValue("pool.connectionBag.sharedList")
                            instanceof List<?> entries) {
                for (Object entry : entries) {
                    if (new DirectFieldAccessor(entry).getPropertyValue("connection") instanceof Connection each
                            && database.ofDriver(each) == driver) {
                        return true;
                    }
                }
            }
            return false;
        } catch (SQLException | RuntimeException ex) {
            return false;
        }
    }

    /** Opens a connection as a pool with these details does. */
    private Connection open(HikariConfig details) throws SQLException {
        Connection given = connect(details);
        if (given == null) {
            throw new SQLException("The DataSource returned null");
        }
        Connection connection = database.isOfDriver(given.getClass()) ? given : CompleteConnection.of(given, database);
        try (Statement statement = connection.createStatement()) {
            if (details.getSchema() != null) {
                connection.setSchema(details.getSchema());
            }
            if (details.getConnectionInitSql() != null) {
                statement.execute(details.getConnectionInitSql());
            }
            return connection;
        } catch (SQLException | RuntimeException ex) {
            JdbcUtils.closeConnection(connection);
            throw ex;
        }
    }

    private static Connection connect(HikariConfig details) throws SQLException {
        Credentials login = ConnectionDetails.loginOf(details);
        if (connectsByUrl(details)) {
            return new DriverDataSource(
                            details.getJdbcUrl(),
                            details.getDriverClassName(),
                            details.getDataSourceProperties(),
                            login.getUsername(),
                            login.getPassword())
                    .getConnection();
        }
        DataSource source = sourceOf(details);
        return login.getUsername() == null
                ? source.getConnection()
                : source.getConnection(login.getUsername(), login.getPassword());
    }

    private static boolean connectsByUrl(HikariConfig details) {
        return details.getJdbcUrl() != null
                && details.getDataSource() == null
                && details.getDataSourceClassName() == null;
    }

    private static DataSource sourceOf(HikariConfig details) throws SQLException {
        if (details.getDataSource() != null) {
            return details.getDataSource();
        }
        if (details.getDataSourceClassName() != null) {
            return ofClass(details.getDataSourceClassName(), details.getDataSourceProperties());
        }
        try {
            return InitialContext.doLookup(details.getDataSourceJNDI());
        } catch (NamingException ex) {
            throw new SQLException("JNDI has no DataSource " + details.getDataSourceJNDI(), ex);
        }
    }

    /** The class may be missing, or lack a property. */
    private static DataSource ofClass(String name, Properties properties) throws SQLException {
        try {
            DataSource source = BeanUtils.instantiateClass(
                    ClassUtils.resolveClassName(name, ConnectionSource.class.getClassLoader()), DataSource.class);
            PropertyElf.setTargetFromProperties(source, properties);
            return source;
        } catch (RuntimeException ex) {
            throw new SQLException("The DataSource " + name + " cannot be made: " + ex.getMessage(), ex);
        }
    }
}
