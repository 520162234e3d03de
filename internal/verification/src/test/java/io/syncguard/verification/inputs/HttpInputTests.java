package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Random requests to the endpoint, the console and a controller with fences have documented answers only. */
@Timeout(3600)
class HttpInputTests {

    /** The statuses of the endpoint, of a controller under a lock, and of Spring and Tomcat for malformed requests. */
    private static final Set<Integer> DOCUMENTED = Set.of(200, 206, 400, 404, 405, 406, 409, 414, 415, 416, 431, 501);

    private static final List<String> METHODS =
            List.of("GET", "GET", "GET", "DELETE", "DELETE", "POST", "PUT", "PATCH", "HEAD", "OPTIONS", "NONSENSE");

    private static final List<String> PARAMETERS =
            List.of("prefix", "key", "after", "limit", "since", "manager", "reason", "nonsense", "key");

    private static final List<String> HEADERS =
            List.of("Syncguard-Fence", "Accept", "Content-Type", "X-Forwarded-For", "Authorization", "Cookie", "Range");

    private static ConfigurableApplicationContext application;

    private final InputSettings settings = InputSettings.of(300, 3);
    private final Inputs inputs = new Inputs(settings.seed());
    private final Answers answers = new Answers();
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(Application.class)
                .run(
                        "--server.port=0",
                        "--syncguard.shutdown-timeout=0s",
                        "--spring.main.banner-mode=off",
                        "--logging.level.org.springframework.web=error",
                        // Tomcat reports requests that are none.
                        "--logging.level.org.apache.catalina=" + System.getProperty("syncguard.inputs.log", "off"),
                        "--spring.datasource.url=" + PostgresServer.newDatabaseUrl(),
                        "--syncguard.fencing.enabled=true",
                        "--syncguard.console.enabled=true",
                        "--management.endpoint.syncguard.show-values=always",
                        "--management.endpoint.syncguard.access=unrestricted",
                        "--management.endpoints.web.exposure.include=syncguard,syncguardconsole");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void every_answer_is_a_documented_one() throws Exception {
        LockManager locks = application.getBean(LockManager.class);
        try (CapturedLog log = new CapturedLog()) {
            while (answers.total() < settings.calls()) {
                if (inputs.chance(2)) {
                    malformed();
                } else {
                    request(locks);
                }
                log.messages().forEach(message -> answers.requireOneLine("log", message));
                log.messages().clear();
            }
        }
        System.out.println("HttpInputTests with " + settings.command() + ": " + answers.total() + " requests; "
                + answers.counts());
        assertThat(answers.violations()).as(settings.command()).isEmpty();
        assertThat(answers.counts()).containsKeys("GET 200", "GET 400", "GET 404");
    }

    /** A well-formed request with any values, to a key that may be locked. */
    private void request(LockManager locks) throws Exception {
        String method = inputs.oneOf(METHODS);
        String key = inputs.chance(30) ? inputs.text() : inputs.newKey();
        if (inputs.chance(50) && Inputs.isLockable(key)) {
            locks.tryAcquire(LockRequest.of(key).ttl(Duration.ofMinutes(1)).noHeartbeat());
        }
        String path = path(key);
        String query = IntStream.range(0, inputs.number(4))
                .mapToObj(i -> {
                    String name = inputs.oneOf(PARAMETERS);
                    return name + "=" + encoded(name.equals("key") ? key : value(name));
                })
                .collect(Collectors.joining("&"));
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(base() + path + (query.isEmpty() ? "" : "?" + query)))
                .timeout(Duration.ofSeconds(30))
                .method(method, inputs.chance(70) ? BodyPublishers.noBody() : BodyPublishers.ofString(inputs.text()));
        for (int i = inputs.number(3); i > 0; i--) {
            String name = inputs.oneOf(HEADERS);
            // Spring answers 500 to the content type "*" of a request to an endpoint, before it is called.
            request.header(name, name.equals("Content-Type") ? headerValue().replace("*", "") : headerValue());
        }
        HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
        judge(method, method + " " + path + "?" + query + " " + request.build().headers(), response.statusCode());
    }

    private String path(String key) {
        return switch (inputs.number(6)) {
            case 0, 1 -> "/actuator/syncguard";
            case 2, 3 -> "/actuator/syncguard/" + encoded(key);
            case 4 -> "/work";
            default -> "/actuator/syncguardconsole" + (inputs.chance(50) ? "" : "/" + encoded(key));
        };
    }

    private String value(String name) {
        return switch (name) {
            case "limit", "since" -> inputs.chance(70) ? Long.toString(inputs.anyLong()) : inputs.text();
            case "manager" -> inputs.chance(70) ? "postgres" : inputs.text();
            case "after" -> inputs.chance(50) ? "page:" + inputs.text() : inputs.text();
            default -> inputs.text();
        };
    }

    /** The client refuses others itself. */
    private String headerValue() {
        String text = inputs.chance(50)
                ? Long.toString(inputs.anyLong())
                : inputs.text().replaceAll("[^\\x20-\\x7e\\xa0-\\xff]", "");
        return text.substring(0, Math.min(text.length(), 300));
    }

    /** Bytes that no client would send. */
    private void malformed() throws IOException {
        String line = inputs.oneOf(METHODS) + " /actuator/syncguard/" + inputs.text() + "?key=%" + inputs.text();
        String header = "Syncguard-Fence: " + inputs.text() + "\r\nSyncguard-Fence: 1";
        String request = line.substring(0, Math.min(line.length(), 300)) + " HTTP/1.1\r\nHost: localhost\r\n"
                + header.substring(0, Math.min(header.length(), 300)) + "\r\nConnection: close\r\n\r\n";
        try (Socket socket = new Socket("127.0.0.1", port())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            socket.shutdownOutput();
            InputStream in = socket.getInputStream();
            String status = new String(in.readNBytes(12), StandardCharsets.ISO_8859_1);
            // Tomcat answers a first line without a version with a page alone, or closes the connection.
            judge("malformed", request, status.startsWith("HTTP/") ? Integer.parseInt(status.substring(9)) : 400);
            in.readAllBytes();
        }
    }

    private void judge(String call, String request, int status) {
        answers.count(call, String.valueOf(status));
        answers.require(DOCUMENTED.contains(status), status + " for " + request);
    }

    private static String base() {
        return "http://127.0.0.1:" + port();
    }

    private static int port() {
        return application.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    private static String encoded(String text) {
        String cut = text.length() > 700 ? text.substring(0, 700) : text;
        return URLEncoder.encode(cut, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @Import({WorkController.class, BadRequests.class})
    static class Application {

        @Bean
        LockBackend lockBackend() {
            return new InMemoryLockBackend();
        }
    }

    @RestController
    record WorkController(LockTemplate locks, FenceGuard fences, TransactionTemplate transactions) {

        @PostMapping("/work")
        String work(@RequestParam(defaultValue = "a") String key, @Nullable Fence fence) {
            if (fence != null) {
                transactions.executeWithoutResult(status -> fences.check(key, fence));
            }
            return locks.tryExecute(key, lock -> "done").acquired() ? "done" : "locked";
        }
    }

    /** An impossible key is answered by the application. */
    @RestControllerAdvice
    static class BadRequests {

        @ExceptionHandler
        ResponseEntity<String> refused(LockException refusal) {
            return ResponseEntity.status(
                            refusal.code() == LockErrorCode.INVALID_ARGUMENT
                                    ? HttpStatus.BAD_REQUEST
                                    : HttpStatus.INTERNAL_SERVER_ERROR)
                    .build();
        }
    }
}
