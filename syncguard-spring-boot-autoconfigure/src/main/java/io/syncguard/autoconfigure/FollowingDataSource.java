package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.DriverDataSource;
import com.zaxxer.hikari.util.PropertyElf;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.function.Consumer;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.springframework.beans.BeanUtils;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jndi.JndiTemplate;
import org.springframework.util.ClassUtils;

/**
 * Opens each connection with the details that the application's {@code DataSource} has at that moment, or takes it from
 * there. So locks follow a target that was replaced, and never have less than the application's own connections.
 * Thread-safe.
 */
final class FollowingDataSource extends AbstractDataSource {

    private final ConnectionDetails details;
    private final Consumer<HikariConfig> completion;

    /** @param completion adds what only connections of the library have */
    FollowingDataSource(ConnectionDetails details, Consumer<HikariConfig> completion) {
        this.details = details;
        this.completion = completion;
    }

    @Override
    public Connection getConnection() throws SQLException {
        HikariConfig derived = details.derived();
        if (derived == null) {
            return details.application().getConnection();
        }
        completion.accept(derived);
        return open(derived);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    /** Opens a connection as a pool with these details does. */
    static Connection open(HikariConfig details) throws SQLException {
        Connection connection = connect(details);
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
        Credentials login = HikariDetails.loginOf(details);
        if (details.getJdbcUrl() != null
                && details.getDataSource() == null
                && details.getDataSourceClassName() == null) {
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

    private static DataSource sourceOf(HikariConfig details) throws SQLException {
        if (details.getDataSource() != null) {
            return details.getDataSource();
        }
        if (details.getDataSourceClassName() != null) {
            DataSource source = BeanUtils.instantiateClass(
                    ClassUtils.resolveClassName(
                            details.getDataSourceClassName(), FollowingDataSource.class.getClassLoader()),
                    DataSource.class);
            PropertyElf.setTargetFromProperties(source, details.getDataSourceProperties());
            return source;
        }
        try {
            return new JndiTemplate().lookup(details.getDataSourceJNDI(), DataSource.class);
        } catch (NamingException ex) {
            throw new SQLException("JNDI has no DataSource " + details.getDataSourceJNDI(), ex);
        }
    }
}
