package io.syncguard.autoconfigure;

import io.syncguard.postgres.DatabaseIdentity;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import liquibase.integration.spring.SpringLiquibase;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.ClassUtils;

/**
 * The DataSources with which the application's migrations run. Their users may create tables, which the user of the
 * application perhaps may not: {@code spring.flyway.user}, or that of a {@code @FlywayDataSource} or of Liquibase.
 */
final class MigrationDataSources {

    private static final Log log = LogFactory.getLog(PostgresLockAutoConfiguration.class);

    private static final boolean HAS_FLYWAY = isPresent("org.flywaydb.core.Flyway");

    private static final boolean HAS_LIQUIBASE = isPresent("liquibase.integration.spring.SpringLiquibase");

    private MigrationDataSources() {}

    /** Those that lead to the same database as another DataSource, with another user. */
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

    /** Where a DataSource leads. */
    private record Login(String database, String user) {

        /** {@code null} if it cannot be asked, such as a pool that is closed after the migrations. */
        static @Nullable Login of(DataSource dataSource) {
            try (Connection connection = dataSource.getConnection()) {
                DatabaseMetaData details = connection.getMetaData();
                String database = details.getDatabaseProductName().equals("PostgreSQL")
                        ? DatabaseIdentity.of(connection)
                        : details.getURL().split("[?;]", 2)[0] + " " + connection.getCatalog();
                return new Login(database, String.valueOf(details.getUserName()));
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

    /** Loaded only where the application has Flyway. */
    private static final class OfFlyway {

        static Stream<DataSource> in(ListableBeanFactory beans) {
            return beans.getBeanProvider(Flyway.class)
                    .orderedStream()
                    .map(flyway -> flyway.getConfiguration().getDataSource());
        }
    }

    /** Loaded only where the application has Liquibase. */
    private static final class OfLiquibase {

        static Stream<DataSource> in(ListableBeanFactory beans) {
            return beans.getBeanProvider(SpringLiquibase.class).orderedStream().map(SpringLiquibase::getDataSource);
        }
    }

    /** A pool may give connections that are in none; each pool resets that. */
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
