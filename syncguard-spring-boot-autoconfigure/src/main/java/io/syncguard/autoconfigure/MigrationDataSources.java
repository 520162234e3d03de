package io.syncguard.autoconfigure;

import io.syncguard.jdbc.CompleteConnection;
import io.syncguard.jdbc.LentConnection;
import io.syncguard.postgres.DatabaseIdentity;
import io.syncguard.postgres.PostgresDatabase;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
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
import org.springframework.jdbc.support.JdbcUtils;
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
                        HAS_FLYWAY ? OfFlyway.in(beans) : Stream.<Migration>empty(),
                        HAS_LIQUIBASE ? OfLiquibase.in(beans) : Stream.<Migration>empty())
                .flatMap(found -> found)
                .filter(candidate -> candidate.getTargetDataSource() != own || candidate.initSql != null)
                .filter(candidate -> ours != null && ours.isBeside(Login.of(candidate)))
                .<DataSource>map(candidate -> candidate)
                .toList();
    }

    /** The database and the user of a DataSource. */
    private record Login(String database, String user) {

        /**
         * Returns {@code null} if the DataSource cannot be asked, such as a pool that is closed after the migrations.
         */
        static @Nullable Login of(DataSource dataSource) {
            try (Connection connection = dataSource.getConnection()) {
                DatabaseMetaData details = CompleteConnection.of(connection).getMetaData();
                return details.getDatabaseProductName().equals("PostgreSQL")
                        ? new Login(DatabaseIdentity.of(connection), currentUserOf(connection))
                        : new Login(
                                details.getURL().split("[?;]", 2)[0] + " " + connection.getCatalog(),
                                String.valueOf(details.getUserName()));
            } catch (SQLException | RuntimeException ex) {
                log.debug("A DataSource could not be asked for its database", ex);
                return null;
            }
        }

        /** The user whose rights count, after a {@code SET ROLE}. */
        private static String currentUserOf(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT current_user::pg_catalog.text")) {
                row.next();
                return row.getString(1);
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
    private static <T> Stream<Migration> of(
            Class<T> type, ListableBeanFactory beans, Function<T, @Nullable Migration> migration) {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type))
                .flatMap(name -> {
                    try {
                        return Stream.ofNullable(migration.apply(beans.getBean(name, type)));
                    } catch (RuntimeException ex) {
                        log.debug("The bean '" + name + "' was not asked for its DataSource", ex);
                        return Stream.empty();
                    }
                });
    }

    /** Loaded only where the application has Flyway. */
    private static final class OfFlyway {

        static Stream<Migration> in(ListableBeanFactory beans) {
            return of(Flyway.class, beans, flyway -> {
                Configuration settings = flyway.getConfiguration();
                DataSource dataSource = settings == null ? null : settings.getDataSource();
                return dataSource == null ? null : new Migration(dataSource, settings.getInitSql());
            });
        }
    }

    /** Loaded only where the application has Liquibase. */
    private static final class OfLiquibase {

        static Stream<Migration> in(ListableBeanFactory beans) {
            return of(SpringLiquibase.class, beans, liquibase -> {
                DataSource dataSource = liquibase.getDataSource();
                return dataSource == null ? null : new Migration(dataSource, null);
            });
        }
    }

    /** Runs the initial SQL after connecting, as Flyway does. */
    private static final class Migration extends DelegatingDataSource {

        private final @Nullable String initSql;

        Migration(DataSource target, @Nullable String initSql) {
            super(target);
            this.initSql = initSql;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = LentConnection.of(super.getConnection(), new PostgresDatabase());
            if (initSql == null) {
                return connection;
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute(initSql);
                return connection;
            } catch (SQLException | RuntimeException ex) {
                JdbcUtils.closeConnection(connection);
                throw ex;
            }
        }
    }
}
