package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.springframework.security.config.Customizer.withDefaults;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** The commands of docs/hanging-lock.md, sent by curl to an application with the properties of the page. */
@Timeout(60)
class OperatorCommandTests {

    private static final List<DocumentBlock> PAGE = DocumentBlock.all().stream()
            .filter(block -> block.page().equals("docs/hanging-lock.md"))
            .toList();

    @TempDir
    private Path directory;

    @BeforeAll
    static void needsCurl() {
        assumeTrue(isInstalled("curl"), "curl is not installed");
    }

    @Test
    void a_script_sees_locks_and_releases_them_with_the_security_of_the_page() throws Exception {
        try (ServletWebServerApplicationContext application = start(Scripts.class, "OPERATOR")) {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle order = PrintedFence.acquire(locks, "order:42");
            LockHandle another = locks.acquire(LockRequest.of("order:43"));

            assertThat(answers(application))
                    .hasSize(4)
                    .allSatisfy(answer -> assertThat(answer).endsWith(" 200"))
                    .satisfies(answers -> {
                        assertThat(answers.get(0))
                                .contains(
                                        "order:42", "\"fence\":" + order.fence().value());
                        assertThat(answers.get(1))
                                .contains('"' + Thread.currentThread().getName() + '"');
                        assertThat(answers.get(2)).contains("\"released\":[{");
                        assertThat(answers.get(3)).contains("order:43", "\"dryRun\":true", "\"complete\":true");
                    });
            assertThat(locks.isLocked("order:42")).isFalse();
            another.release();
        }
    }

    @Test
    void the_printed_answer_has_fields_of_a_real_one() throws Exception {
        try (ServletWebServerApplicationContext application = start(Scripts.class, "OPERATOR")) {
            LockManager locks = application.getBean(LockManager.class);
            try (LockHandle order = locks.acquire(LockRequest.of("order:42"))) {
                CompletableFuture<Void> waiting = CompletableFuture.runAsync(
                        () -> locks.acquire(LockRequest.of("order:42").waitTime(Duration.ofSeconds(50)))
                                .release());
                await().untilAsserted(
                                () -> assertThat(fields(answers(application, 1).get(0)))
                                        .containsAll(fields(block("json").text())));
                order.release();
                waiting.join();
            }
        }
    }

    @Test
    void a_user_without_the_role_sees_and_releases_nothing() throws Exception {
        try (ServletWebServerApplicationContext application = start(Scripts.class, "USER")) {
            assertThat(answers(application)).allMatch(answer -> answer.endsWith(" 403"));
        }
    }

    @Test
    void the_default_security_shows_locks_and_answers_a_release_with_401() throws Exception {
        try (ServletWebServerApplicationContext application = start(Application.class, "OPERATOR")) {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle order = locks.acquire(LockRequest.of("order:42"));

            assertThat(answers(application))
                    .extracting(answer -> answer.substring(answer.length() - 4))
                    .containsExactly(" 200", " 200", " 401", " 401");
            order.release();
        }
    }

    private ServletWebServerApplicationContext start(Class<?> application, String role) throws IOException {
        Path file = Files.writeString(
                directory.resolve("application.properties"), block("properties").text());
        return (ServletWebServerApplicationContext) new SpringApplicationBuilder(application)
                .properties(
                        "server.port=0",
                        "spring.config.location=" + file.toUri(),
                        "spring.datasource.url=" + PostgresServer.newDatabaseUrl(),
                        "syncguard.owner=order-service@4711@host-1",
                        "spring.security.user.name=ann",
                        "spring.security.user.password=secret",
                        "spring.security.user.roles=" + role)
                .run();
    }

    private static List<String> answers(ServletWebServerApplicationContext application) {
        return answers(application, Integer.MAX_VALUE);
    }

    /** The bodies and status codes that the first commands of the page get, one after the other. */
    private static List<String> answers(ServletWebServerApplicationContext application, int commands) {
        int port = application.getWebServer().getPort();
        return PAGE.stream()
                .filter(block -> block.language().equals("sh"))
                .flatMap(block -> block.text().lines())
                .filter(line -> line.startsWith("curl "))
                .limit(commands)
                .map(command -> command.replace("localhost:8080", "127.0.0.1:" + port))
                .map(command -> command.replaceFirst("^curl ", "curl -s -w ' %{http_code}' "))
                .map(OperatorCommandTests::run)
                .toList();
    }

    private static Set<String> fields(String json) {
        return Pattern.compile("\"(\\w+)\":")
                .matcher(json)
                .results()
                .map(field -> field.group(1))
                .collect(Collectors.toSet());
    }

    private static DocumentBlock block(String language) {
        return PAGE.stream()
                .filter(block -> block.language().equals(language))
                .findFirst()
                .orElseThrow();
    }

    private static String run(String command) {
        try {
            ProcessBuilder shell = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true);
            shell.environment().putAll(Map.of("PASSWORD", "secret"));
            Process process = shell.start();
            process.getOutputStream().close();
            String answer = new String(process.getInputStream().readAllBytes());
            assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
            return answer;
        } catch (IOException | InterruptedException ex) {
            throw new IllegalStateException(command, ex);
        }
    }

    private static boolean isInstalled(String program) {
        return run("command -v " + program).contains(program);
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Scripts {

        // sample: operators-security
        @Bean
        SecurityFilterChain security(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers(EndpointRequest.to("health"))
                            .permitAll()
                            .requestMatchers(EndpointRequest.to("syncguard", "threaddump"))
                            .hasRole("OPERATOR")
                            .anyRequest()
                            .authenticated())
                    .formLogin(withDefaults())
                    .httpBasic(withDefaults())
                    .csrf(csrf -> csrf.ignoringRequestMatchers(EndpointRequest.to("syncguard")))
                    .build();
        }
        // end
    }
}
