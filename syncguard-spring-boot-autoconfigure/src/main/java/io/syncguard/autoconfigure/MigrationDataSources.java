package io.syncguard.autoconfigure;

import io.syncguard.postgres.DatabaseIdentity;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import liquibase.integration.spring.SpringLiquibase;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.Configuration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Finds the DataSources of the application's migrations: that of {@code spring.flyway.user}, of a
 * {@code @FlywayDataSource} or of Liquibase. Their users may create tables, and the user of the application perhaps may
 * not.
 */
final class MigrationDataSources {

    private static final Log log = LogFactory.getLog(MigrationDataSources.class);

    private static final boolean HAS_FLYWAY = isPresent("org.flywaydb.core.Flyway");

    private static final boolean HAS_LIQUIBASE = isPresent("liquibase.integration.spring.SpringLiquibase");

    private MigrationDataSources() {}

    /** Returns those that lead to the same database as this DataSource, with another user. */
    static List<DataSource> beside(DataSource own, ListableBeanFactory beans) {
        Login ours = Login.of(own);
        return Stream.of(
                        HAS_FLYWAY ? OfFlyway.in(beans) : Stream.<DataSource>empty(),
                        HAS_LIQUIBASE ? OfLiquibase.in(beans) : Stream.<DataSource>empty())
                .flatMap(found -> found)
                .filter(candidate -> candidate != own)
                .distinct()
                .filter(candidate -> ours != null && ours.isBeside(Login.of(candidate)))
                .<DataSource>map(InAutoCommit::new)
                .toList();
    }

    /** The database and the user of a DataSource. */
    private record Login(String database, String user) {

        /**
         * Returns {@code null} if the DataSource cannot be asked, such as a pool that is closed after the migrations.
         */
        static @Nullable Login of(DataSource dataSource) {
            try (Connection connection = dataSource.getConnection()) {
                DatabaseMetaData details = connection.getMetaData();
                return details.getDatabaseProductName().equals("PostgreSQL")
                        ? new Login(
                                DatabaseIdentity.of(connection),
                                SessionRole.of(connection).user())
                        : new Login(
                                details.getURL().split("[?;]", 2)[0] + " " + connection.getCatalog(),
                                String.valueOf(details.getUserName()));
            } catch (SQLException | RuntimeException ex) {
                log.debug("A DataSource could not be asked for its database", ex);
                return null;
            }
        }

        boolean isBeside(@Nullable Login other) {
            return other != null && database.equals(other.database) && !user.equals(other.user);
        }
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, MigrationDataSources.class.getClassLoader());
    }

    /** Leaves out a bean that cannot be created, such as a lazy one for a database that is down. */
    private static <T> Stream<DataSource> of(
            Class<T> type, ListableBeanFactory beans, Function<T, @Nullable DataSource> dataSource) {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type))
                .flatMap(name -> {
                    try {
                        return Stream.ofNullable(dataSource.apply(beans.getBean(name, type)));
                    } catch (RuntimeException ex) {
                        log.debug("The bean '" + name + "' was not asked for its DataSource", ex);
                        return Stream.empty();
                    }
                });
    }

    /** Loaded only where the application has Flyway. */
    private static final class OfFlyway {

        static Stream<DataSource> in(ListableBeanFactory beans) {
            return of(Flyway.class, beans, flyway -> {
                Configuration settings = flyway.getConfiguration();
                DataSource dataSource = settings == null ? null : settings.getDataSource();
                return dataSource == null || settings.getInitSql() == null
                        ? dataSource
                        : new AfterInitSql(dataSource, settings.getInitSql());
            });
        }
    }

    /** Loaded only where the application has Liquibase. */
    private static final class OfLiquibase {

        static Stream<DataSource> in(ListableBeanFactory beans) {
            return of(SpringLiquibase.class, beans, SpringLiquibase::getDataSource);
        }
    }

    /**
     * Runs the initial SQL after connecting, as Flyway does. Gives a connection back to its pool with the role that it
     * had.
     */
    private static final class AfterInitSql extends DelegatingDataSource {

        private final String initSql;

        AfterInitSql(DataSource target, String initSql) {
            super(target);
            this.initSql = initSql;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            try {
                connection.setAutoCommit(true);
                SessionRole before =
                        connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")
                                ? SessionRole.of(connection)
                                : null;
                try (Statement statement = connection.createStatement()) {
                    statement.execute(initSql);
                }
                return before == null ? connection : before.restoredAtClose(connection);
            } catch (SQLException | RuntimeException ex) {
                connection.close();
                throw ex;
            }
        }
    }

    /**
     * The state of a PostgreSQL session that {@code SET ROLE} changes.
     *
     * @param role the setting; {@code none} without one
     * @param user the user whose rights count
     */
    private record SessionRole(String role, String user) {

        static SessionRole of(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT pg_catalog.current_setting('role'), current_user::pg_catalog.text")) {
                row.next();
                return new SessionRole(row.getString(1), row.getString(2));
            }
        }

        Connection restoredAtClose(Connection connection) {
            return (Connection) Proxy.newProxyInstance(
                    MigrationDataSources.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, args) -> {
                        if (method.getName().equals("close") && !connection.isClosed()) {
                            restore(connection);
                        }
                        try {
                            return method.invoke(connection, args);
                        } catch (InvocationTargetException ex) {
                            throw ex.getTargetException();
                        }
                    });
        }

        private void restore(Connection connection) {
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT pg_catalog.set_config('role', ?, false)")) {
                statement.setString(1, role);
                statement.execute();
            } catch (SQLException ex) {
                log.debug("The role of Flyway's connection was not restored", ex);
            }
        }
    }

    /** Turns autocommit on, because a pool may have it off. Each pool resets it. */
    private static final class InAutoCommit extends DelegatingDataSource {

        InAutoCommit(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            connection.setAutoCommit(true);
            return connection;
        }
    }
}
