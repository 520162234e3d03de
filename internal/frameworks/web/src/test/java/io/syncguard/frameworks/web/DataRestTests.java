package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.testing.PostgresServer;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mybatis.spring.boot.autoconfigure.MybatisAutoConfiguration;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.graphql.autoconfigure.GraphQlAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.session.jdbc.autoconfigure.JdbcSessionAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.data.rest.core.annotation.RepositoryRestResource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Data REST reads an entity before it saves it: a version finds what a lock on the method {@code save} cannot. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.jpa.open-in-view=false",
            "spring.data.rest.base-path=/rest",
            "spring.data.rest.detection-strategy=annotated"
        })
@Tag("verification")
@Timeout(60)
class DataRestTests {

    private final HttpClient http = HttpClient.newHttpClient();

    @LocalServerPort
    private int port;

    @Autowired
    private LockManager manager;

    @Autowired
    private JdbcClient jdbc;

    @Test
    void of_two_requests_that_read_the_same_state_one_is_refused() {
        jdbc.sql("INSERT INTO account VALUES (1, 0, 'a', 0)").update();
        CompletableFuture<HttpResponse<String>> cents;
        CompletableFuture<HttpResponse<String>> note;
        try (LockHandle held = manager.acquire(LockRequest.of("account", "1"))) {
            cents = patch("{\"cents\": 7}");
            note = patch("{\"note\": \"b\"}");
            Awaitility.await()
                    .until(() -> manager.admin()
                                    .status("account:1")
                                    .map(LockStatus::waiters)
                                    .orElseThrow()
                            == 2);
            assertThat(held.isHeld()).isTrue();
        }

        assertThat(new int[] {cents.join().statusCode(), note.join().statusCode()})
                .contains(409)
                .containsAnyOf(200, 204);
        assertThat(jdbc.sql("SELECT cents || note FROM account")
                        .query(String.class)
                        .single())
                .isIn("7a", "0b");
    }

    private CompletableFuture<HttpResponse<String>> patch(String body) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/rest/accounts/1"))
                        .method("PATCH", HttpRequest.BodyPublishers.ofString(body))
                        .header("Content-Type", "application/json")
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {
                GraphQlAutoConfiguration.class,
                JdbcSessionAutoConfiguration.class,
                MybatisAutoConfiguration.class
            })
    @EnableJpaRepositories(considerNestedRepositories = true)
    @EntityScan
    static class Application {

        @Bean
        DataSource dataSource() {
            DataSource created = PostgresServer.newDatabase();
            JdbcClient.create(created)
                    .sql("CREATE TABLE account (id BIGINT PRIMARY KEY, cents BIGINT, note TEXT, version BIGINT)")
                    .update();
            return created;
        }
    }

    @RepositoryRestResource(path = "accounts")
    interface Accounts extends CrudRepository<Account, Long> {

        @Override
        @DistributedLock(name = "account", key = "#p0.id", waitTime = "30s")
        <S extends Account> S save(S account);
    }

    @Entity
    @Table(name = "account")
    static class Account {

        @Id
        public Long id;

        public long cents;

        public String note;

        @Version
        public Long version;
    }
}
