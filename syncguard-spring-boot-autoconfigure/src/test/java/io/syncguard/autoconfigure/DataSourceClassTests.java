package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.concurrent.Chain;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** HikariCP may create a DataSource of any class, which need not have the properties of a driver. */
class DataSourceClassTests {

    static Stream<Arguments> classes() {
        return Stream.of(
                Arguments.of(Proxying.class, PostgresServer.newDatabaseUrl()),
                Arguments.of(OfPostgres.class, PostgresServer.newDatabaseUrl()),
                Arguments.of(PGSimpleDataSource.class, PostgresServer.newDatabaseUrl()),
                Arguments.of(Proxying.class, MariaDbServer.newDatabaseUrl()),
                Arguments.of(MariaDbDataSource.class, MariaDbServer.newDatabaseUrl()),
                Arguments.of(JdbcDataSource.class, "jdbc:h2:mem:classes;DB_CLOSE_DELAY=-1"));
    }

    @ParameterizedTest
    @MethodSource("classes")
    void locks_work(Class<?> type, String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSourceClassName(type.getName());
        pool.addDataSourceProperty("url", url);
        Applications.withoutDatabase()
                .withBean(DataSource.class, () -> pool)
                .run(application -> assertThat(application
                                .getBean(LockTemplate.class)
                                .<String, RuntimeException>execute("order:1", lock -> "held"))
                        .isEqualTo("held"));
    }

    @ParameterizedTest
    @CsvSource({
        "postgres, unknownProperty, io.syncguard.autoconfigure.DataSourceClassTests$Proxying",
        "jdbc, unknownProperty, io.syncguard.autoconfigure.DataSourceClassTests$Proxying",
        "postgres, unknownProperty, org.postgresql.ds.PGSimpleDataSource",
        "jdbc, unknownProperty, org.mariadb.jdbc.MariaDbDataSource",
        "postgres, url, no.such.DataSource",
        "jdbc, url, no.such.DataSource"
    })
    void a_start_names_a_property_or_a_class_that_is_missing(String backend, String property, String type) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSourceClassName(type);
        pool.addDataSourceProperty(property, "any");
        String missing = property.equals("url") ? type : property;
        Applications.withoutDatabase()
                .withPropertyValues("syncguard.backend=" + backend)
                .withBean(DataSource.class, () -> pool)
                .run(application -> assertThat(Chain.causes(application.getStartupFailure())
                                .filter(LockSetupException.class::isInstance)
                                .map(LockSetupException.class::cast))
                        .singleElement()
                        .satisfies(failure -> assertThat(failure.problem())
                                .startsWith("The DataSource gives no usable connection: ")
                                .contains(missing)));
    }

    /** A wrapper of connections, such as that of AWS. */
    public static final class Proxying extends AbstractDataSource {

        private String url;

        public String getUrl() {
            return url;
        }

        public void setUrl(String url) {
            this.url = url;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return DriverManager.getConnection(url);
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return DriverManager.getConnection(url, username, password);
        }
    }

    /** A class of the application, with all properties of the driver's class. */
    public static final class OfPostgres extends PGSimpleDataSource {

        private static final long serialVersionUID = 1L;
    }
}
