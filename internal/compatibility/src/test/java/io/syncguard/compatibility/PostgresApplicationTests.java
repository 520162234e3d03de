package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.syncguard.LockOperations;
import io.syncguard.LockRequest;
import io.syncguard.core.LockObserver;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.micrometer.LockObservations;
import io.syncguard.test.LockTestControl;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A whole application with Flyway, transactions, the web and the actuator. */
class PostgresApplicationTests {

    private static OwnPostgres postgres;
    private static ConfigurableApplicationContext application;

    private final OrderService orders = application.getBean(OrderService.class);
    private final LockOperations locks = application.getBean(LockOperations.class);
    private final JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);

    @BeforeAll
    static void start() {
        postgres = new OwnPostgres();
        application = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.datasource.url=" + postgres.url(),
                        "server.port=0",
                        "syncguard.leader.elections.settlement.ttl=5s",
                        "syncguard.fencing.enabled=true",
                        "syncguard.console.enabled=true",
                        "management.endpoints.web.exposure.include=*",
                        "management.endpoint.health.show-details=always",
                        "management.endpoint.syncguard.access=unrestricted",
                        "management.endpoint.syncguard.show-values=always")
                .run();
    }

    @AfterAll
    static void stop() throws IOException {
        application.close();
        postgres.close();
    }

    @Test
    void the_tables_are_made_after_the_migrations_and_outside_of_their_history() {
        assertThat(jdbc.queryForList("SELECT script FROM flyway_schema_history", String.class))
                .containsExactly("V1__orders.sql");
        assertThat(jdbc.queryForObject("SELECT count(*) FROM syncguard_fence_counters", Long.class))
                .isNotNull();
    }

    /** A start without locks has to know what Flyway ran before. */
    @Test
    void flyway_runs_the_scripts_where_it_is_asked_for_and_knows_them_later() {
        jdbc.execute("CREATE DATABASE by_flyway");
        String url = postgres.url().replaceFirst("(//[^/]+/)[^?]+", "$1by_flyway");
        for (String enabled : List.of("true", "false")) {
            new SpringApplicationBuilder(Application.class)
                    .properties(
                            "spring.datasource.url=" + url,
                            "server.port=0",
                            "syncguard.enabled=" + enabled,
                            "syncguard.leader.elections.settlement.ttl=5s",
                            "syncguard.fencing.enabled=true",
                            "syncguard.postgres.schema-management=flyway",
                            "syncguard.fencing.schema-management=flyway")
                    .run()
                    .close();
        }

        assertThat(new JdbcTemplate(new DriverManagerDataSource(url))
                        .queryForList("SELECT script FROM flyway_schema_history", String.class))
                .contains("V1__orders.sql", "R__syncguard_schema.sql", "R__syncguard_fences.sql");
    }

    @Test
    void an_annotated_method_runs_under_its_lock_and_in_a_guarded_transaction() {
        long fence = orders.submit(new Order("1"));

        assertThat(jdbc.queryForObject("SELECT fence FROM orders WHERE id = '1'", Long.class))
                .isEqualTo(fence);
        assertThat(jdbc.queryForObject("SELECT count(*) FROM syncguard_locks", Long.class))
                .as("leases that are left over")
                .isLessThanOrEqualTo(1);
    }

    @Test
    void a_request_is_refused_while_another_holds_the_lock() throws Exception {
        HttpResponse<String> refused = locks.execute("order:2", lock -> send("POST", "/orders/2"));
        HttpResponse<String> granted = send("POST", "/orders/2");

        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(refused.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(granted.statusCode()).isEqualTo(200);
    }

    @Test
    void a_slice_with_its_database_has_its_locks_there() {
        new ApplicationContextRunner()
                .withUserConfiguration(SliceTests.Jdbc.class)
                .withPropertyValues("spring.datasource.url=" + postgres.url())
                .run(slice -> {
                    Long rows = slice.getBean(LockOperations.class)
                            .execute(
                                    "order:slice",
                                    lock -> jdbc.queryForObject(
                                            "SELECT count(*) FROM syncguard_locks WHERE key = 'order:slice'",
                                            Long.class));

                    assertThat(rows).isOne();
                    assertThat(slice).doesNotHaveBean(LockTestControl.class);
                });
    }

    @Test
    void one_instance_leads() {
        await().atMost(Duration.ofSeconds(20)).until(orders::settle);

        assertThat(application
                        .getBean(MeterRegistry.class)
                        .get("syncguard.leader.active")
                        .gauge()
                        .value())
                .isOne();
    }

    @Test
    void the_endpoint_shows_a_lock_and_releases_it() throws Exception {
        locks.execute("report", lock -> {
            assertThat(send("GET", "/actuator/syncguard/report").body()).contains("\"key\":\"report\"");
            assertThat(send("GET", "/actuator/syncguard").body()).contains("\"report\"");
            return null;
        });

        assertThat(send("GET", "/actuator/syncguard/report").statusCode()).isEqualTo(404);
        assertThat(send("DELETE", "/actuator/syncguard/report").statusCode()).isEqualTo(404);
        HttpResponse<String> console = send("GET", "/actuator/syncguardconsole");
        assertThat(console.body()).contains("<html");
        assertThat(console.headers().firstValue("Content-Security-Policy").orElseThrow())
                .endsWith("frame-ancestors 'none'");
        assertThat(send("GET", "/actuator/syncguard").headers().firstValue("Cache-Control"))
                .hasValue("no-store");
    }

    @Test
    void the_health_of_the_locks_is_shown() throws Exception {
        assertThat(send("GET", "/actuator/health/syncguard").body())
                .contains("\"status\":\"UP\"", "\"postgres\":{\"backend\":\"postgres\"");
    }

    @Test
    void locks_are_measured_and_observed() {
        locks.execute(LockRequest.of("measured", "1"), lock -> null);

        MeterRegistry meters = application.getBean(MeterRegistry.class);
        assertThat(meters.get("syncguard.lock.acquire")
                        .tag("name", "measured")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(application.getBean(LockObserver.class)).isInstanceOf(LockObservations.class);
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        String port = application.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }
}
