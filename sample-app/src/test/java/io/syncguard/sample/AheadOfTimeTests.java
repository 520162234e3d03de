package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;

/**
 * The sample with the bean definitions that an ahead-of-time build generates, as in a native image, but on a JVM. The
 * steps are those of the goal {@code process-aot} of Spring Boot's Maven plugin.
 */
@Tag("verification")
class AheadOfTimeTests {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    @TempDir
    private static Path directory;

    private static Process sample;
    private static String url;

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws Exception {
        Path classes = Files.createDirectory(directory.resolve("classes"));
        Path sources = directory.resolve("sources");
        generate(sources, classes);
        compile(sources, classes);

        File log = directory.resolve("sample.log").toFile();
        sample = OtherInstance.java(
                List.of(
                        "-Dspring.aot.enabled=true",
                        "-cp",
                        classes + File.pathSeparator + OtherInstance.CLASS_PATH,
                        SampleApplication.class.getName(),
                        "--sample.postgres-port=0",
                        "--server.port=0"),
                log);
        Matcher port = await().atMost(Duration.ofSeconds(60))
                .until(() -> PORT.matcher(Files.readString(log.toPath())), Matcher::find);
        assertThat(log).content().contains("Starting AOT-processed SampleApplication");
        url = "http://127.0.0.1:" + port.group(1);
    }

    @AfterAll
    static void stop() {
        if (sample != null) {
            // Stops its PostgreSQL, too.
            sample.destroy();
            sample.onExit().join();
        }
    }

    @Test
    void anOrderThatIsSubmittedTwentyTimesAtOnceIsProcessedOnce() {
        List<HttpResponse<String>> answers =
                Stream.generate(() -> send("POST", "/orders/42/submit")).limit(20).toList().stream()
                        .map(CompletableFuture::join)
                        .toList();

        assertThat(answers).filteredOn(answer -> answer.statusCode() == 200).hasSize(1);
        assertThat(answers).filteredOn(answer -> answer.statusCode() == 409).hasSize(19);
    }

    @Test
    void aPartnerIsAskedUnderAPermitThatIsShown() {
        CompletableFuture<HttpResponse<String>> quote = send("GET", "/quotes/acme");

        await().atMost(Duration.ofSeconds(30))
                .until(
                        () -> send("GET", "/actuator/syncguard/partner-api:acme")
                                .join()
                                .body(),
                        lock -> lock.contains("\"permitsInUse\":1,\"permits\":[3]"));
        assertThat(quote.join().statusCode()).isEqualTo(200);
    }

    @Test
    void theInstanceLeadsAndShowsItsLocks() {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(send("GET", "/leader").join().body()).contains("\"leading\":true"));
        assertThat(send("GET", "/actuator/syncguard").join().body()).contains("\"settlement\":{\"joined\":true");
        assertThat(send("GET", "/actuator/health").join().body()).contains("\"syncguard\":{\"status\":\"UP\"");
    }

    private static void generate(Path sources, Path classes) throws IOException, InterruptedException {
        File log = directory.resolve("generation.log").toFile();
        Process generation = OtherInstance.java(
                List.of(
                        "-cp",
                        OtherInstance.CLASS_PATH,
                        SpringApplicationAotProcessor.class.getName(),
                        SampleApplication.class.getName(),
                        sources.toString(),
                        classes.toString(),
                        classes.toString(),
                        "io.syncguard",
                        "sample-app"),
                log);
        assertThat(generation.waitFor()).as(Files.readString(log.toPath())).isZero();
    }

    private static void compile(Path sources, Path classes) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", classes.toString()));
        arguments.addAll(List.of("-cp", classes + File.pathSeparator + OtherInstance.CLASS_PATH));
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(file -> file.toString().endsWith(".java"))
                    .map(Path::toString)
                    .forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }

    private CompletableFuture<HttpResponse<String>> send(String method, String path) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create(url + path))
                        .method(method, BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }
}
