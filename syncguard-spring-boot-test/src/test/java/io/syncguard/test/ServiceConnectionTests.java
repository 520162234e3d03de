package io.syncguard.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import java.net.URI;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The connection details of {@code @ServiceConnection} reach the locks, and win over properties. The containers lead to
 * the servers of this build, so that no Docker engine is needed.
 */
class ServiceConnectionTests {

    @Nested
    @SpringBootTest(properties = "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere")
    @Import(Postgres.Servers.class)
    class Postgres {

        @Test
        void locks_are_in_the_database_of_the_container(@Autowired Orders orders, @Autowired JdbcTemplate jdbc)
                throws Exception {
            String database = jdbc.queryForObject("SELECT current_database()", String.class);
            Long held = orders.submit(
                    "42",
                    () -> jdbc.queryForObject(
                            "SELECT count(*) FROM syncguard_locks WHERE key = 'order:42'", Long.class));

            assertThat(StartedPostgres.URL).contains("/" + database);
            assertThat(held).isOne();
        }

        @TestConfiguration(proxyBeanMethods = false)
        static class Servers {

            @Bean
            @ServiceConnection
            StartedPostgres postgres() {
                return new StartedPostgres();
            }
        }
    }

    @Nested
    @SpringBootTest(
            properties = {
                "spring.data.redis.url=redis://127.0.0.1:1",
                "syncguard.backend=redis",
                "syncguard.redis.key-prefix={service-connection}"
            })
    @Import(Redis.Servers.class)
    class Redis {

        @Test
        void locks_are_in_the_redis_of_the_container(@Autowired Orders orders, @Autowired StringRedisTemplate redis)
                throws Exception {
            assertThat(orders.submit("42", () -> redis.keys("{service-connection}:*order:42*")))
                    .isNotEmpty();
        }

        @TestConfiguration(proxyBeanMethods = false)
        static class Servers {

            @Bean
            @ServiceConnection("redis")
            StartedRedis redis() {
                return new StartedRedis();
            }
        }
    }

    /** A container that runs already. */
    static final class StartedPostgres extends PostgreSQLContainer {

        private static final String URL = PostgresServer.newDatabaseUrl();

        StartedPostgres() {
            super("postgres:18");
        }

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public String getJdbcUrl() {
            return URL;
        }

        @Override
        public String getUsername() {
            return "postgres";
        }

        @Override
        public String getPassword() {
            return "postgres";
        }
    }

    /** A container that runs already. */
    static final class StartedRedis extends GenericContainer<StartedRedis> {

        private static final URI URL = URI.create(RedisServer.url());

        StartedRedis() {
            super("redis:8");
        }

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public String getHost() {
            return URL.getHost();
        }

        @Override
        public Integer getMappedPort(int port) {
            return URL.getPort();
        }
    }
}
