package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/** What the endpoint and the health say of wake-ups, before a caller waits for the first time and afterwards. */
@Tag("verification")
@Timeout(120)
class WakeUpsStatusTests {

    private final HttpClient browser = HttpClient.newHttpClient();

    enum Store {
        POSTGRESQL(true),
        POSTGRESQL_WITHOUT_THEM(false, "--syncguard.postgres.notify=false"),
        REDIS(true);

        private final boolean arrive;
        private final String[] properties;

        Store(boolean arrive, String... properties) {
            this.arrive = arrive;
            this.properties = properties;
        }

        Stream<String> properties() {
            Stream<String> own = this == REDIS
                    ? Stream.of(
                            "--syncguard.backend=redis",
                            "--spring.data.redis.url=" + RedisServer.url(),
                            "--syncguard.redis.key-prefix=" + RedisServer.newPrefix() + ":")
                    : Stream.of(
                            "--syncguard.backend=postgres",
                            "--spring.datasource.url="
                                    + TestDatabase.withSchema().url());
            return Stream.concat(own, Stream.of(properties));
        }
    }

    @ParameterizedTest
    @EnumSource
    void they_are_not_missing_before_they_are_needed(Store store) {
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "spring.main.banner-mode=off",
                        "spring.flyway.enabled=false",
                        "spring.liquibase.enabled=false",
                        "management.endpoints.web.exposure.include=syncguard,health",
                        "management.endpoint.health.show-details=always")
                .run(store.properties().toArray(String[]::new))) {
            String actuator = "http://127.0.0.1:"
                    + application.getEnvironment().getRequiredProperty("local.server.port") + "/actuator/";

            assertThat(get(actuator + "syncguard"))
                    .contains("\"failedHeartbeats\":0")
                    .doesNotContain("\"wakeUps\"");
            assertThat(get(actuator + "health/syncguard"))
                    .contains("\"status\":\"UP\"", "\"failedHeartbeats\":0")
                    .doesNotContain("\"wakeUps\"");

            Applications.waitForALock(application);

            Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
                assertThat(get(actuator + "syncguard")).contains("\"wakeUps\":" + store.arrive);
                assertThat(get(actuator + "health/syncguard"))
                        .contains("\"status\":\"UP\"", "\"wakeUps\":" + store.arrive);
            });
        }
    }

    private String get(String url) {
        try {
            return browser.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
                    .body();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {
                ServletWebSecurityAutoConfiguration.class,
                SecurityFilterAutoConfiguration.class,
                ManagementWebSecurityAutoConfiguration.class
            })
    static class Application {}
}
