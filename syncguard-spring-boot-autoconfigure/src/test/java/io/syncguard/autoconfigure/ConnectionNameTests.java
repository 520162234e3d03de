package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.types.RedisClientInfo;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Each connection of the locks tells an administrator of the server whose it is. */
@Timeout(60)
class ConnectionNameTests {

    private static final TestDatabase DATABASE = TestDatabase.withSchema();
    private static final String NAME = "spring.application.name=";
    private static final String OF_THE_POOL = "spring.datasource.hikari.data-source-properties.ApplicationName=";
    private static final String OF_THE_DRIVER = "PostgreSQL JDBC Driver";

    static Stream<Arguments> onPostgres() {
        return Stream.of(
                Arguments.of("", List.of(), OF_THE_DRIVER, "syncguard"),
                Arguments.of("", List.of(NAME + "shop"), OF_THE_DRIVER, "syncguard shop"),
                Arguments.of("", List.of(NAME + "it's a \"shöp\" 🛒"), OF_THE_DRIVER, "syncguard it's a \"sh?p\" ?"),
                Arguments.of("", List.of(NAME + "x".repeat(80)), OF_THE_DRIVER, "syncguard " + "x".repeat(53)),
                Arguments.of("ApplicationName=web%20shop", List.of(NAME + "a"), "web shop", "syncguard web shop"),
                Arguments.of("ApplicationName=b&tcpKeepAlive=true", List.of(), "b", "syncguard b"),
                Arguments.of("", List.of(NAME + "a", OF_THE_POOL + "web"), "web", "syncguard web"),
                Arguments.of("ApplicationName=url", List.of(OF_THE_POOL + "web"), "url", "syncguard url"));
    }

    @ParameterizedTest
    @MethodSource
    void onPostgres(String ofUrl, List<String> properties, String ofApplication, String ofLocks) {
        Applications.on(DATABASE.url() + (DATABASE.url().contains("?") ? "&" : "?") + ofUrl)
                .withPropertyValues(properties.toArray(String[]::new))
                .run(application -> {
                    Applications.waitForALock(application);
                    assertThat(application
                                    .getBean(JdbcTemplate.class)
                                    .queryForObject("SELECT current_setting('application_name')", String.class))
                            .isEqualTo(ofApplication);
                    assertThat(namesOfSessions()).containsOnlyKeys(ofApplication, ofLocks);
                    assertThat(namesOfSessions().get(ofLocks)).isGreaterThanOrEqualTo(3);
                });
    }

    static Stream<DataSource> byClass() {
        PGSimpleDataSource ofDriver = new PGSimpleDataSource();
        ofDriver.setUrl(DATABASE.url());
        ofDriver.setApplicationName("web");
        HikariDataSource ofItsClass = new HikariDataSource();
        ofItsClass.setDataSourceClassName(PGSimpleDataSource.class.getName());
        ofItsClass.addDataSourceProperty("url", DATABASE.url());
        ofItsClass.addDataSourceProperty("applicationName", "web");
        return Stream.of(ofDriver, ofItsClass);
    }

    @ParameterizedTest
    @MethodSource
    void byClass(DataSource dataSource) {
        Applications.withoutDatabase()
                .withPropertyValues(NAME + "shop")
                .withBean(DataSource.class, () -> dataSource)
                .run(application -> {
                    Applications.waitForALock(application);
                    assertThat(namesOfSessions().get("syncguard web")).isGreaterThanOrEqualTo(3);
                });
    }

    @Test
    void connections_that_the_application_lends_keep_its_name() {
        PGSimpleDataSource hidden = new PGSimpleDataSource();
        hidden.setUrl(DATABASE.url());
        hidden.setApplicationName("lent");
        DataSource unreadable = new AbstractDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return hidden.getConnection();
            }

            @Override
            public Connection getConnection(String username, String password) throws SQLException {
                return hidden.getConnection(username, password);
            }
        };
        Applications.withoutDatabase()
                .withPropertyValues(NAME + "shop")
                .withBean(DataSource.class, () -> unreadable)
                .run(application -> {
                    Applications.waitForALock(application);
                    assertThat(namesOfSessions()).containsOnlyKeys("lent");
                });
    }

    static Stream<Arguments> onRedis() {
        return Stream.of(
                Arguments.of(List.of(NAME + "shop-1"), "syncguard-shop-1"),
                Arguments.of(List.of(NAME + "the \"shöp\" 2"), "syncguard-the-\"sh-p\"-2"),
                Arguments.of(List.of(NAME + "a", "spring.data.redis.client-name=web-3"), "syncguard-web-3"));
    }

    @ParameterizedTest
    @MethodSource
    void onRedis(List<String> properties, String ofLocks) {
        redis().withPropertyValues(properties.toArray(String[]::new)).run(application -> {
            Applications.waitForALock(application);
            await().untilAsserted(() -> assertThat(namesOfClients(application).filter(ofLocks::equals))
                    .hasSize(2));
        });
    }

    private static ApplicationContextRunner redis() {
        return Applications.withoutBoot()
                .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.url(),
                        "syncguard.redis.key-prefix=" + RedisServer.newPrefix() + ":");
    }

    private static Map<String, Long> namesOfSessions() {
        return DATABASE.jdbc()
                .query(
                        "SELECT application_name, count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND pid <> pg_backend_pid() AND backend_type = 'client backend' GROUP BY 1",
                        rows -> {
                            Map<String, Long> names = new TreeMap<>();
                            while (rows.next()) {
                                names.put(rows.getString(1), rows.getLong(2));
                            }
                            return names;
                        });
    }

    private static Stream<String> namesOfClients(ApplicationContext application) {
        return Objects.requireNonNull(application
                        .getBean(StringRedisTemplate.class)
                        .execute(RedisConnection::serverCommands)
                        .getClientList())
                .stream()
                .map(RedisClientInfo::getName);
    }
}
