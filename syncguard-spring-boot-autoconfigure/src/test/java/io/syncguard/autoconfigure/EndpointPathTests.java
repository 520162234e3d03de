package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Other spellings of the paths of the endpoint and the console, as no browser sends them, without Spring Security. */
@Timeout(120)
class EndpointPathTests {

    private static final String WITHOUT_SECURITY = Stream.of(
                    ServletWebSecurityAutoConfiguration.class,
                    SecurityFilterAutoConfiguration.class,
                    ManagementWebSecurityAutoConfiguration.class,
                    ReactiveWebSecurityAutoConfiguration.class,
                    ReactiveManagementWebSecurityAutoConfiguration.class)
            .map(Class::getName)
            .collect(Collectors.joining(","));

    private static final Map<WebApplicationType, ConfigurableApplicationContext> applications = new HashMap<>();

    @AfterAll
    static void close() {
        applications.values().forEach(ConfigurableApplicationContext::close);
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void every_answer_of_the_console_and_the_endpoint_has_its_headers(WebApplicationType type) throws IOException {
        for (String path : List.of(
                "syncguardconsole",
                "syncguardconsol%65",
                "%73yncguardconsole",
                "syncguardconsole;x=1",
                "syncguardconsol%65;x",
                "syncguardconsole/",
                "SyncGuardConsole",
                "/syncguardconsole",
                "./syncguardconsole",
                "x/../syncguardconsole",
                "syncguard",
                "syncguar%64",
                "syncguard;x=1",
                "syncguard/",
                "syncguard/order",
                "syncguar%64/order",
                "syncguard;x/order",
                "syncguard/order;x",
                "syncguard?limit=0")) {
            for (String method : List.of("GET", "HEAD")) {
                Answer answer = send(type, method, "/app/actuator/" + path, "");
                if (answer.status() == 200 || type == WebApplicationType.REACTIVE && answer.isOfEndpoint()) {
                    assertProtected(answer);
                }
            }
        }
        assertThat(send(type, "GET", "/app/actuator/syncguardconsol%65", "").status())
                .isEqualTo(200);
        assertThat(send(type, "GET", "/app/actuator/syncguardconsole;x=1", "").status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({"POST, 405", "PUT, 405", "OPTIONS, 200"})
    void an_answer_without_a_handler_has_them_too_in_webflux(String method, int status) throws IOException {
        for (String path : List.of("syncguardconsole", "syncguardconsol%65;x", "syncguard", "syncguar%64")) {
            Answer answer = send(WebApplicationType.REACTIVE, method, "/app/actuator/" + path, "");

            assertThat(answer.status()).as(path).isEqualTo(status);
            assertProtected(answer);
        }
        assertProtected(send(WebApplicationType.REACTIVE, "GET", "/app/actuator/syncguard", "Accept: image/png\r\n"));
        assertProtected(send(WebApplicationType.REACTIVE, "GET", "/app/actuator/syncguardconsole/a/b", ""));
        assertThat(send(WebApplicationType.REACTIVE, "GET", "/app/actuator/health", "")
                        .headers())
                .doesNotContain("x-frame-options");
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void a_release_by_path_frees_the_key_that_was_sent_or_none(WebApplicationType type) throws IOException {
        LockManager locks = application(type).getBean(LockManager.class);
        try (LockHandle order = locks.acquire(LockRequest.of("order"));
                LockHandle replaced = locks.acquire(LockRequest.of("\ufffd"))) {
            for (String path : List.of(
                    "order;42",
                    "order;",
                    "order;a=b;c=d",
                    ";order",
                    "order%3B42",
                    "order%3b",
                    "order/",
                    "/order",
                    "order//",
                    "order/.",
                    "./order",
                    "x/../order",
                    "%2e/order",
                    "x/%2e%2e/order",
                    "..;/syncguard/order",
                    "order%2F",
                    "order%00",
                    "order%20",
                    "order+",
                    "order.json",
                    "order.",
                    "ORDER",
                    "%FF",
                    "%C0%AF",
                    "%ED%A0%80",
                    "order%",
                    "order%zz")) {
                Answer answer = send(type, "DELETE", "/app/actuator/syncguard/" + path, "");

                assertThat(answer.status()).as(path).isIn(400, 404, 405);
                assertThat(order.isHeld() && locks.isLocked("order")).as(path).isTrue();
                assertThat(replaced.isHeld() && locks.isLocked("\ufffd"))
                        .as(path)
                        .isTrue();
                assertThat(send(type, "GET", "/app/actuator/syncguard/" + path, "")
                                .status())
                        .as(path)
                        .isIn(400, 404);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void a_key_with_unusual_characters_can_be_in_a_path(WebApplicationType type) throws IOException {
        LockManager locks = application(type).getBean(LockManager.class);
        for (Map.Entry<String, String> each : Map.of(
                        "order:42", "order:42",
                        "order;42", "order%3B42",
                        "a+b", "a+b",
                        "a b", "a%20b",
                        "%", "%25",
                        "\u00fc\ud83d\udd12", "%c3%BC%F0%9F%94%92",
                        "a=b&c", "a=b&c")
                .entrySet()) {
            locks.acquire(LockRequest.of(each.getKey()));

            assertThat(send(type, "GET", "/app/actuator/syncguard/" + each.getValue(), "")
                            .status())
                    .as(each.getKey())
                    .isEqualTo(200);
            assertThat(send(type, "DELETE", "/app/actuator/syncguard/" + each.getValue(), "")
                            .status())
                    .as(each.getKey())
                    .isEqualTo(200);
            assertThat(locks.isLocked(each.getKey())).isFalse();
        }
        locks.acquire(LockRequest.of("a;b"));
        Answer refused = send(type, "DELETE", "/app/actuator/syncguard/a;b", "");
        assertThat(refused.text()).contains("application/problem+json", "%3B", "\"Invalid key\"");
        assertProtected(refused);
        assertThat(send(type, "DELETE", "/app/actuator/syncguard?key=a%3Bb", "").status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void no_parameter_replaces_the_key_of_the_path(WebApplicationType type) throws IOException {
        LockManager locks = application(type).getBean(LockManager.class);
        try (LockHandle path = locks.acquire(LockRequest.of("path"));
                LockHandle parameter = locks.acquire(LockRequest.of("parameter"))) {
            for (String query :
                    List.of("key=parameter", "key=path", "key=", "key", "%6bey=parameter", "reason=x&key=parameter")) {
                for (String method : List.of("DELETE", "GET")) {
                    Answer refused = send(type, method, "/app/actuator/syncguard/path?" + query, "");

                    assertThat(refused.status()).as(method + " " + query).isEqualTo(400);
                    assertThat(refused.text()).contains("application/problem+json", "\"Invalid key\"");
                    assertProtected(refused);
                }
            }
            sendForm(type, "DELETE", "/app/actuator/syncguard/none", "key=parameter");
            sendForm(type, "DELETE", "/app/actuator/syncguard?key=none", "key=parameter");
            sendForm(type, "DELETE", "/app/actuator/syncguard", "key=parameter");

            assertThat(path.isHeld() && locks.isLocked("path")).isTrue();
            assertThat(parameter.isHeld() && locks.isLocked("parameter")).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void parameters_reach_the_endpoint_as_they_were_sent_or_the_request_is_refused(WebApplicationType type)
            throws IOException {
        LockManager locks = application(type).getBean(LockManager.class);
        List<String> keys = List.of(
                "a", "b", "a,b", "\ufffd", "\ufffd\ufffd", "\ufffd\ufffd\ufffd", "x\ufffd", "%zz", "\u00c3\u00bc");
        keys.forEach(key -> locks.acquire(LockRequest.of(key)));
        for (String query : List.of(
                "key=a&key=b",
                "key=a&key=a",
                "key=%FF",
                "key=%ED%A0%80",
                "key=x%80",
                "key=%C0%AF",
                "key=%zz",
                "key=\u00fc",
                "key=a&reason=%FF",
                "key=a&reason=x&reason=y",
                "key=a&manager=memory&manager=memory")) {
            for (String method : List.of("DELETE", "GET")) {
                assertThat(send(type, method, "/app/actuator/syncguard?" + query, "")
                                .status())
                        .as(method + " " + query)
                        .isEqualTo(400);
            }
        }
        for (String query :
                List.of("prefix=%FF", "after=%C0%AF", "limit=1&limit=2", "since=0a1b2c3d:0&since=0a1b2c3d:1")) {
            assertThat(send(type, "GET", "/app/actuator/syncguard?" + query, "").status())
                    .as(query)
                    .isEqualTo(400);
        }
        for (String query : List.of("reason=%FF", "manager=%80")) {
            assertThat(send(type, "DELETE", "/app/actuator/syncguard/a?" + query, "")
                            .status())
                    .as(query)
                    .isEqualTo(400);
        }
        Answer refused = send(type, "DELETE", "/app/actuator/syncguard/a?reason=x&reason=y", "");
        assertThat(refused.text()).contains("application/problem+json", "\"Invalid parameter\"");
        assertProtected(refused);
        sendForm(type, "DELETE", "/app/actuator/syncguard", "key=%FF");
        send(type, "DELETE", "/app/actuator/syncguard/\u00fc", "");

        assertThat(keys).allMatch(locks::isLocked);
        keys.forEach(key -> locks.admin().forceRelease(key, "the test is over"));
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void parameters_may_have_any_characters_and_may_be_empty(WebApplicationType type) throws IOException {
        LockManager locks = application(type).getBean(LockManager.class);
        for (Map.Entry<String, String> each : Map.of(
                        "a/b", "key=a/b&reason=it+hangs",
                        "a b", "&&key=a+b&reason=",
                        "a+b", "%6bey=a%2Bb&reason",
                        "a=b;c", "key=a=b;c&reason=%25&unknown",
                        "\u00fc\ud83d\udd12", "key=%c3%BC%F0%9F%94%92&reason=%C3%BC&")
                .entrySet()) {
            locks.acquire(LockRequest.of(each.getKey()));

            assertThat(send(type, "DELETE", "/app/actuator/syncguard?" + each.getValue(), "")
                            .status())
                    .as(each.getKey())
                    .isEqualTo(200);
            assertThat(locks.isLocked(each.getKey())).isFalse();
        }
    }

    private static void assertProtected(Answer answer) {
        assertThat(answer.headers())
                .as(answer.text())
                .contains("content-security-policy: default-src 'none'", "frame-ancestors 'none'")
                .contains("cache-control: no-store", "x-frame-options: deny", "x-content-type-options: nosniff");
    }

    private record Answer(int status, String text) {

        String headers() {
            return text.substring(0, text.indexOf("\r\n\r\n")).toLowerCase(Locale.ROOT);
        }

        boolean isOfEndpoint() {
            return status != 404;
        }
    }

    private static void sendForm(WebApplicationType type, String method, String path, String form) throws IOException {
        send(type, method, path, "Content-Type: application/x-www-form-urlencoded\r\n", form);
    }

    private static Answer send(WebApplicationType type, String method, String path, String headers) throws IOException {
        return send(type, method, path, headers, "");
    }

    /** Sends the path as it is. */
    private static Answer send(WebApplicationType type, String method, String path, String headers, String body)
            throws IOException {
        int port = Integer.parseInt(application(type).getEnvironment().getRequiredProperty("local.server.port"));
        try (Socket socket = new Socket("127.0.0.1", port)) {
            OutputStream request = socket.getOutputStream();
            request.write((method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers
                            + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                    .getBytes(StandardCharsets.UTF_8));
            request.flush();
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Answer(Integer.parseInt(answer.split(" ", 3)[1]), answer);
        }
    }

    private static ConfigurableApplicationContext application(WebApplicationType type) {
        return applications.computeIfAbsent(
                type,
                each -> new SpringApplicationBuilder(Application.class)
                        .web(each)
                        .properties(
                                "server.port=0",
                                "server.address=127.0.0.1",
                                "spring.main.banner-mode=off",
                                "spring.autoconfigure.exclude=" + WITHOUT_SECURITY,
                                "spring.webflux.base-path=/app",
                                "server.servlet.context-path=/app",
                                "management.endpoints.web.exposure.include=*",
                                "management.endpoint.syncguard.show-values=always",
                                "management.endpoint.syncguard.access=unrestricted",
                                "spring.data.redis.repositories.enabled=false",
                                "syncguard.shutdown-timeout=0s",
                                "syncguard.console.enabled=true")
                        .run());
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {

        @Bean
        LockBackend lockBackend() {
            return new InMemoryLockBackend();
        }
    }
}
