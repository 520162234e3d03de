package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockMode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.client.RestClient;

/**
 * The walk-through of the sample, on one instance and a PostgreSQL of its own.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
class SampleApplicationTests {

    private static final Duration REPORT_TTL = Duration.ofSeconds(3);

    private final HttpClient http = HttpClient.newHttpClient();
    private final String url;

    SampleApplicationTests(@LocalServerPort int port) {
        this.url = "http://127.0.0.1:" + port;
    }

    @Test
    void anOrderThatIsSubmittedTwentyTimesAtOnceIsProcessedOnce() {
        List<HttpResponse<String>> answers = postTwentyTimesAtOnce("/orders/42/submit");

        assertThat(answers).filteredOn(answer -> answer.statusCode() == 200).hasSize(1);
        assertThat(answers)
                .filteredOn(answer -> answer.statusCode() == 409)
                .hasSize(19)
                .allSatisfy(answer -> {
                    assertThat(answer.body()).contains("Nothing was done for this one");
                    assertThat(answer.headers().firstValue("Retry-After")).contains("1");
                });
    }

    @Test
    void anOrderThatWasProcessedIsNotProcessedAgain() {
        assertThat(post("/orders/43/submit").join().statusCode()).isEqualTo(200);

        HttpResponse<String> again = post("/orders/43/submit").join();

        assertThat(again.statusCode()).isEqualTo(409);
        assertThat(again.body()).contains("Order 43 was already processed");
    }

    @Test
    void aReportKeepsItsLockBeyondItsTtl() {
        CompletableFuture<HttpResponse<String>> report = post("/reports/long?seconds=8");
        LockState first = await().atMost(Duration.ofSeconds(5)).until(() -> lock("report:long"), LockState::held);

        LockState later = await().atMost(Duration.ofSeconds(10))
                .until(() -> lock("report:long"), state -> isExtendedByATtl(first, state));

        assertThat(later.fence()).isEqualTo(first.fence());
        assertThat(later.owner()).isEqualTo(first.owner()).isNotBlank();
        assertThat(report.join().body()).contains("\"fence\":" + first.fence());
        assertThat(lock("report:long").held()).isFalse();
    }

    @Test
    void reservationsAtOnceNeverSellMoreThanThereIs(@Autowired JdbcClient database) {
        // Another test of this instance may have reserved some.
        database.sql("UPDATE stock SET available = 10 WHERE sku = 'TEA'").update();

        List<HttpResponse<String>> answers = postTwentyTimesAtOnce("/stock/tea/reserve?quantity=1");

        assertThat(answers).filteredOn(answer -> answer.statusCode() == 200).hasSize(10);
        assertThat(answers)
                .filteredOn(answer -> answer.statusCode() == 409)
                .hasSize(10)
                .allSatisfy(answer -> assertThat(answer.body()).contains("Only 0 of TEA are available"));
    }

    @Test
    void aPriceListIsReadByManyTogetherAndNeverWhileItIsRewritten() {
        CompletableFuture<HttpResponse<String>> change = post("/prices/change?percent=10");
        LockState writer = await().atMost(Duration.ofSeconds(5)).until(() -> lock("price-list"), LockState::held);
        assertThat(writer.mode()).isEqualTo(LockMode.EXCLUSIVE);

        List<HttpResponse<String>> answers = twentyTimesAtOnce(() -> get("/prices"));

        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo(change.join().body()).contains("\"COFFEE\":352", "\"TEA\":308");
        });
        assertThat(lock("price-list").held()).isFalse();
    }

    @Test
    void aPartnerIsAskedThreeTimesAtOnceAtMost() {
        long began = System.nanoTime();
        List<CompletableFuture<HttpResponse<String>>> answers =
                Stream.generate(() -> get("/quotes/acme")).limit(7).toList();

        await().atMost(Duration.ofSeconds(5))
                .until(
                        () -> get("/actuator/syncguard/partner-api:acme").join().body(),
                        lock -> lock.contains("\"waiters\":4"));
        assertThat(get("/actuator/syncguard/partner-api:acme").join().body())
                .contains("\"name\":\"partner-api\"", "\"permitsInUse\":3", "\"permits\":[3]", "\"permits\":3,");
        assertThat(answers)
                .allSatisfy(answer -> assertThat(answer.join().statusCode()).isEqualTo(200));
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .as("three rounds, because an answer takes a second and a half")
                .isGreaterThan(Duration.ofMillis(3 * 1500));
        assertThat(lock("partner-api:acme").held()).isFalse();
    }

    @Test
    void theInstanceThatLeadsSettlesUnderItsFence() {
        Leadership leadership = await().atMost(Duration.ofSeconds(30))
                .until(() -> read("/leader", Leadership.class), Leadership::leading);
        assertThat(leadership.leader()).isNotBlank();
        assertThat(leadership.fence()).isPositive();

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(read("/settlement", Settlement.class).fence())
                                .isGreaterThanOrEqualTo(leadership.fence()));
    }

    @Test
    void aReportThatHangsIsFoundAndItsLockIsReleasedByForce() {
        CompletableFuture<HttpResponse<String>> report = post("/reports/hangs?seconds=50");
        HttpResponse<String> lock = await().atMost(Duration.ofSeconds(5))
                .until(() -> get("/actuator/syncguard/report:hangs").join(), answer -> answer.statusCode() == 200);
        assertThat(lock.body()).contains("\"key\":\"report:hangs\"", "\"owner\":\"order-service@");
        assertThat(get("/actuator/syncguard?prefix=report:").join().body())
                .contains("\"report:hangs\"", "\"settlement\":{\"joined\":true", "\"postgres\"");

        HttpResponse<String> released = delete("/actuator/syncguard/report:hangs?reason=a+test");

        assertThat(released.statusCode()).isEqualTo(200);
        assertThat(released.body()).contains("\"released\":[{", "\"remaining\":[]");
        assertThat(report.join().statusCode())
                .as("of the body that lost its lock")
                .isGreaterThanOrEqualTo(500);
        assertThat(get("/actuator/syncguard/report:hangs").join().statusCode()).isEqualTo(404);
        assertThat(delete("/actuator/syncguard/report:hangs").statusCode()).isEqualTo(404);
    }

    @Test
    void theHealthOfTheLocksIsShown() {
        assertThat(get("/actuator/health").join().body()).contains("\"syncguard\":{\"status\":\"UP\"");
    }

    @Test
    void aReportOfMoreThanAMinuteIsRefusedWithTheLimits() {
        HttpResponse<String> answer = post("/reports/endless?seconds=61").join();

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(answer.body()).contains("'seconds' has to be between 1 and 60, but is 61");
    }

    private static boolean isExtendedByATtl(LockState first, LockState later) {
        return later.expiresAt() != null
                && first.expiresAt() != null
                && later.expiresAt().isAfter(first.expiresAt().plus(REPORT_TTL));
    }

    private LockState lock(String key) {
        return read("/locks/{key}", LockState.class, key);
    }

    private <T> T read(String path, Class<T> type, Object... variables) {
        T body = RestClient.create(url).get().uri(path, variables).retrieve().body(type);
        return Objects.requireNonNull(body);
    }

    private HttpResponse<String> delete(String path) {
        return http.sendAsync(
                        HttpRequest.newBuilder(URI.create(url + path)).DELETE().build(), BodyHandlers.ofString())
                .join();
    }

    private List<HttpResponse<String>> postTwentyTimesAtOnce(String path) {
        return twentyTimesAtOnce(() -> post(path));
    }

    private static List<HttpResponse<String>> twentyTimesAtOnce(
            Supplier<CompletableFuture<HttpResponse<String>>> call) {
        List<CompletableFuture<HttpResponse<String>>> calls =
                Stream.generate(call).limit(20).toList();
        return calls.stream().map(CompletableFuture::join).toList();
    }

    private CompletableFuture<HttpResponse<String>> get(String path) {
        return send(HttpRequest.newBuilder(URI.create(url + path)).GET());
    }

    CompletableFuture<HttpResponse<String>> post(String path) {
        return send(HttpRequest.newBuilder(URI.create(url + path)).POST(BodyPublishers.noBody()));
    }

    private CompletableFuture<HttpResponse<String>> send(HttpRequest.Builder request) {
        return http.sendAsync(request.build(), BodyHandlers.ofString());
    }
}
