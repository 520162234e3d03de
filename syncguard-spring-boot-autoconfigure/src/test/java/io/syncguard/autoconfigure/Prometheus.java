package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.jayway.jsonpath.JsonPath;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.syncguard.embedded.OwnRedis;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A server of Prometheus with the alert rules, which scrapes registries of this process each second. */
final class Prometheus implements AutoCloseable {

    private static final Path RULES = Path.of("../docs/prometheus-alerts.yml");

    private final HttpClient client = HttpClient.newHttpClient();
    private final HttpServer applications =
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final int port = OwnRedis.freePort();
    private final Process server;

    /**
     * @param directory for its data
     * @param registries by the names of their instances
     */
    Prometheus(Path directory, Map<String, PrometheusMeterRegistry> registries) throws IOException {
        String program = program();
        assumeTrue(!program.isEmpty(), "no prometheus: install Debian's package, or set SYNCGUARD_TEST_PROMETHEUS");
        registries.forEach((instance, registry) -> applications.createContext("/" + instance, exchange -> {
            byte[] answer = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "text/plain; version=0.0.4");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        }));
        applications.start();
        Files.writeString(directory.resolve("prometheus.yml"), settings(registries.keySet()));
        server = new ProcessBuilder(
                        program,
                        "--config.file=" + directory.resolve("prometheus.yml"),
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("prometheus.log").toFile())
                .start();
        await().atMost(Duration.ofSeconds(20))
                .ignoreExceptions()
                .until(() -> results("sum(up) == " + registries.size()).size() == 1);
    }

    /** The samples or series of an answer, each with its labels. */
    List<Map<String, Object>> results(String query) {
        return JsonPath.read(ask("query?query=" + encoded(query)), "$.data.result[*]");
    }

    /** The series of the last minute, with a value for each second. */
    List<Map<String, Object>> series(String query) {
        long now = System.currentTimeMillis() / 1000;
        return JsonPath.read(
                ask("query_range?step=1&start=" + (now - 60) + "&end=" + now + "&query=" + encoded(query)),
                "$.data.result[*]");
    }

    /** The rules, with their health and the alerts that they raise. */
    List<Map<String, Object>> rules() {
        return JsonPath.read(ask("rules"), "$.data.groups[*].rules[*]");
    }

    @Override
    public void close() {
        server.destroy();
        applications.stop(0);
    }

    private String ask(String what) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + what))
                .build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            return answer.body();
        } catch (IOException ex) {
            throw new IllegalStateException("Prometheus does not answer", ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", ex);
        }
    }

    private String settings(Iterable<String> instances) {
        String scrape = "";
        for (String instance : instances) {
            scrape += "  - job_name: shop-" + instance + "\n    metrics_path: /" + instance + "\n    static_configs:\n"
                    + "      - targets: ['127.0.0.1:"
                    + applications.getAddress().getPort() + "']\n"
                    + "        labels: {job: shop, instance: " + instance
                    + ", namespace: production, application: shop}\n";
        }
        return "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: ['" + RULES.toAbsolutePath()
                + "']\nscrape_configs:\n" + scrape;
    }

    private static String encoded(String query) {
        return URLEncoder.encode(query, StandardCharsets.UTF_8);
    }

    private static String program() {
        return Stream.concat(
                        Stream.ofNullable(System.getenv("SYNCGUARD_TEST_PROMETHEUS")),
                        Stream.of(System.getenv("PATH").split(File.pathSeparator))
                                .map(place -> place + "/prometheus"))
                .filter(program -> Files.isExecutable(Path.of(program)))
                .findFirst()
                .orElse("");
    }
}
