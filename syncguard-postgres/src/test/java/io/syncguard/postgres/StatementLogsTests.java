package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** What may log lock ids is named at the start. */
@Timeout(60)
class StatementLogsTests {

    private final DataSource server = PostgresServer.newConnections(PostgresServer.newDatabaseUrl());

    @Test
    void without_such_logs_nothing_is_said() {
        assertThat(warnings(server)).isEmpty();
        try (HikariDataSource pool = pool(server)) {
            assertThat(warnings(pool)).isEmpty();
        }
    }

    @Test
    void a_proxy_between_the_pool_and_the_driver_is_named() {
        DataSource wrapped = new DelegatingDataSource(server) {

            @Override
            public Connection getConnection() throws SQLException {
                return logged(super.getConnection());
            }
        };
        assertThat(warnings(wrapped)).singleElement().asString().contains(Logging.class.getName(), "lock ids");
        try (HikariDataSource pool = pool(wrapped)) {
            assertThat(warnings(pool)).singleElement().asString().contains(Logging.class.getName());
        }
    }

    @Test
    void a_proxy_that_unwraps_to_another_one_each_time_is_named_once() {
        DataSource wrapped = new DelegatingDataSource(server) {

            @Override
            public Connection getConnection() throws SQLException {
                return renewed(super.getConnection());
            }
        };
        assertThat(warnings(wrapped)).singleElement().asString().containsOnlyOnce(Renewed.class.getName());
    }

    @Test
    void two_proxies_that_unwrap_to_each_other_are_named_once() {
        DataSource wrapped = new DelegatingDataSource(server) {

            @Override
            public Connection getConnection() throws SQLException {
                Connection driver = super.getConnection();
                Turning one = new Turning(driver);
                Turning two = new Turning(driver);
                one.other = proxy(two);
                two.other = proxy(one);
                return two.other;
            }
        };
        assertThat(warnings(wrapped)).singleElement().asString().containsOnlyOnce(Turning.class.getName());
    }

    @ParameterizedTest
    @CsvSource({
        "log_statement, mod",
        "log_statement, all",
        "log_min_duration_statement, 0",
        "log_min_duration_statement, 250",
        "log_min_duration_sample, 10",
        "log_transaction_sample_rate, 0.5"
    })
    void a_setting_of_the_server_is_named(String name, String value) {
        set(name, value);
        assertThat(warnings(server)).singleElement().asString().contains(name + " = " + value);
    }

    @Test
    void parameters_that_are_not_logged_are_no_matter() {
        set("log_statement", "all");
        set("log_parameter_max_length", "0");
        assertThat(warnings(server)).isEmpty();
        set("log_statement", "ddl");
        set("log_parameter_max_length", "-1");
        assertThat(warnings(server)).isEmpty();
    }

    @Test
    void a_driver_that_logs_parameters_is_named() {
        Logger driver = Logger.getLogger("org.postgresql");
        Level before = driver.getLevel();
        driver.setUseParentHandlers(false);
        driver.setLevel(Level.FINEST);
        try {
            assertThat(warnings(server)).singleElement().asString().contains("'org.postgresql'");
        } finally {
            driver.setLevel(before);
            driver.setUseParentHandlers(true);
        }
    }

    private void set(String name, String value) {
        JdbcTemplate jdbc = new JdbcTemplate(server);
        String database = jdbc.queryForObject("SELECT current_database()", String.class);
        jdbc.execute("ALTER DATABASE " + database + " SET " + name + " = '" + value + "'");
    }

    private static HikariDataSource pool(DataSource target) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(target);
        return pool;
    }

    private static List<String> warnings(DataSource dataSource) {
        try (CapturedLog log = new CapturedLog()) {
            new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
            return log.messages();
        }
    }

    private static Connection logged(Connection connection) {
        return proxy(new Logging(connection));
    }

    private static Connection renewed(Connection connection) {
        return proxy(new Renewed(new Logging(connection)));
    }

    private static Connection proxy(InvocationHandler handler) {
        return (Connection) Proxy.newProxyInstance(
                StatementLogsTests.class.getClassLoader(), new Class<?>[] {Connection.class}, handler);
    }

    private static boolean unwraps(Method method, Object[] arguments) {
        return method.getName().equals("unwrap") && arguments[0] == Connection.class;
    }

    /** Behaves as the connection of an embedded database for tests. */
    private record Renewed(Logging target) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            return unwraps(method, arguments) ? renewed(target.target()) : target.invoke(proxy, method, arguments);
        }
    }

    private static final class Turning implements InvocationHandler {

        private final Logging target;
        private Connection other;

        Turning(Connection driver) {
            target = new Logging(driver);
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            return unwraps(method, arguments) ? other : target.invoke(proxy, method, arguments);
        }
    }

    /** Behaves as the connections of libraries that log statements. */
    private record Logging(Connection target) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException ex) {
                throw ex.getCause();
            }
        }
    }
}
