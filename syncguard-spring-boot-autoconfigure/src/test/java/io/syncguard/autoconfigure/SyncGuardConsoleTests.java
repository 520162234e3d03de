package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
import org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** The page for operators and the endpoint beneath it, in an application that Spring Security protects. */
@Timeout(120)
class SyncGuardConsoleTests {

    private static final String UNRESTRICTED = "--management.endpoint.syncguard.access=unrestricted";

    /** Which sets headers of its own. */
    private static final String WITHOUT_SECURITY = Stream.of(
                    ServletWebSecurityAutoConfiguration.class,
                    SecurityFilterAutoConfiguration.class,
                    ManagementWebSecurityAutoConfiguration.class,
                    ReactiveWebSecurityAutoConfiguration.class,
                    ReactiveManagementWebSecurityAutoConfiguration.class)
            .map(Class::getName)
            .collect(Collectors.joining(",", "--spring.autoconfigure.exclude=", ""));

    private static final String USER =
            "Basic " + Base64.getEncoder().encodeToString("ann:secret".getBytes(StandardCharsets.UTF_8));

    private static final String[] PROPERTIES = {
        "server.port=0",
        "server.address=127.0.0.1",
        "spring.main.banner-mode=off",
        "spring.security.user.name=ann",
        "spring.security.user.password=secret",
        "spring.security.user.roles=operator",
        "management.endpoints.web.exposure.include=syncguard,syncguardconsole",
        "spring.data.redis.repositories.enabled=false",
        "syncguard.shutdown-timeout=0s",
        "syncguard.console.enabled=true"
    };

    private final HttpClient browser =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

    /** By their properties. Tests of the same properties share one. */
    private static final Map<List<String>, ConfigurableApplicationContext> applications = new HashMap<>();

    @AfterAll
    static void close() {
        applications.values().forEach(ConfigurableApplicationContext::close);
        applications.clear();
    }

    @Test
    void it_is_not_there_unless_a_property_asks_for_it() throws Exception {
        assertThat(get(start("--syncguard.console.enabled=false"), "/actuator/syncguardconsole")
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    void it_is_not_there_without_the_endpoint() throws Exception {
        String url = start("--management.endpoints.web.exposure.include=syncguardconsole");
        assertThat(get(url, "/actuator/syncguardconsole").statusCode()).isEqualTo(404);
    }

    @Test
    void it_is_protected_as_the_other_endpoints() throws Exception {
        HttpRequest anonymous = HttpRequest.newBuilder(URI.create(start() + "/actuator/syncguardconsole"))
                .build();
        assertThat(browser.send(anonymous, BodyHandlers.ofString()).statusCode())
                .isEqualTo(401);
    }

    @Test
    void its_scripts_are_its_own_and_it_loads_nothing_from_elsewhere() throws Exception {
        HttpResponse<String> page = get(start(), "/actuator/syncguardconsole");

        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html;charset=UTF-8");
        assertThat(page.body())
                .contains("default-src 'none'", "connect-src 'self'", "script-src 'sha256-" + hash(page, "script"))
                .contains("style-src 'sha256-" + hash(page, "style"))
                .doesNotContainPattern("(src|href|action)=[\"']?(https?:)?//")
                .doesNotContain("{{");
    }

    @Test
    void no_cache_keeps_it_and_no_other_page_frames_it() throws Exception {
        assertHeaders(start());
        assertHeaders(start(WITHOUT_SECURITY));
        try (ConfigurableApplicationContext own = run(
                WebApplicationType.SERVLET,
                WITHOUT_SECURITY,
                "--management.server.port=0",
                "--management.server.base-path=/ops")) {
            assertHeaders(
                    "http://127.0.0.1:" + own.getEnvironment().getRequiredProperty("local.management.port") + "/ops");
        }
    }

    @Tag("verification")
    @Test
    void that_is_so_in_a_reactive_application() throws Exception {
        try (ConfigurableApplicationContext reactive =
                run(WebApplicationType.REACTIVE, "--spring.webflux.base-path=/app")) {
            String url = "http://127.0.0.1:" + reactive.getEnvironment().getRequiredProperty("local.server.port");
            assertHeaders(url + "/app");
        }
        try (ConfigurableApplicationContext own = run(
                WebApplicationType.REACTIVE,
                WITHOUT_SECURITY + "," + TomcatReactiveManagementContextAutoConfiguration.class.getName(),
                "--management.server.port=0")) {
            assertHeaders("http://127.0.0.1:" + own.getEnvironment().getRequiredProperty("local.management.port"));
        }
    }

    private void assertHeaders(String url) throws Exception {
        HttpResponse<String> page = get(url, "/actuator/syncguardconsole");
        HttpResponse<String> data = get(url, "/actuator/syncguard");
        HttpResponse<String> refused = get(url, "/actuator/syncguard?prefix=a");

        assertThat(page.statusCode()).as(url).isEqualTo(200);
        assertThat(data.statusCode()).isEqualTo(200);
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .startsWith("default-src 'none'; script-src 'sha256-" + hash(page, "script"))
                .endsWith("; frame-ancestors 'none'");
        assertThat(data.headers().firstValue("Content-Security-Policy"))
                .hasValue("default-src 'none'; frame-ancestors 'none'");
        for (HttpResponse<String> answer : List.of(page, data, refused)) {
            assertThat(answer.headers().allValues("Cache-Control"))
                    .singleElement()
                    .asString()
                    .contains("no-store");
            assertThat(answer.headers().allValues("X-Frame-Options")).containsExactly("DENY");
            assertThat(answer.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
            assertThat(answer.headers().allValues("Referrer-Policy")).isNotEmpty();
        }
    }

    @Test
    void it_sends_the_token_without_which_a_release_is_refused() throws Exception {
        String url = start(UNRESTRICTED);
        LockManager locks = application(UNRESTRICTED).getBean(LockManager.class);
        locks.acquire(LockRequest.of("a/b"));
        String page = get(url, "/actuator/syncguardconsole").body();
        String release = url + "/actuator/syncguard?key=a/b&reason=it+hangs";

        // Spring Boot's page for the 403 needs a log-in itself.
        assertThat(delete(release).statusCode()).isIn(401, 403);
        assertThat(locks.isLocked("a/b")).isTrue();

        assertThat(value(page, "writable")).isEqualTo("true");
        try (CapturedLog log = new CapturedLog()) {
            assertThat(delete(release, value(page, "csrf-header"), value(page, "csrf-token"))
                            .statusCode())
                    .isEqualTo(200);
            assertThat(log.messages()).anyMatch(message -> message.endsWith("Reason: by ann: it hangs"));
        }
        assertThat(locks.isLocked("a/b")).isFalse();
    }

    @Test
    void a_release_is_not_possible_where_the_endpoint_is_read_only() throws Exception {
        String url = start();
        String page = get(url, "/actuator/syncguardconsole").body();

        assertThat(value(page, "writable")).isEqualTo("false");
        assertThat(delete(url + "/actuator/syncguard?key=a", value(page, "csrf-header"), value(page, "csrf-token"))
                        .statusCode())
                .isEqualTo(405);
    }

    @Test
    void who_may_look_but_not_release_is_told_so() throws Exception {
        for (String path : List.of("", "/shop")) {
            try (ConfigurableApplicationContext application = new SpringApplicationBuilder(
                            Application.class, AdministratorsRelease.class)
                    .properties(PROPERTIES)
                    .run(UNRESTRICTED, "--server.servlet.context-path=" + path)) {
                String url = urlOf(application) + path;
                String page = get(url, "/actuator/syncguardconsole").body();

                assertThat(value(page, "writable")).isEqualTo("denied");
                assertThat(delete(
                                        url + "/actuator/syncguard?key=a",
                                        value(page, "csrf-header"),
                                        value(page, "csrf-token"))
                                .statusCode())
                        .isEqualTo(403);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AdministratorsRelease {

        @Bean
        SecurityFilterChain security(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers(HttpMethod.DELETE, "/actuator/**")
                            .hasRole("administrator")
                            .anyRequest()
                            .authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    @Test
    void it_finds_the_endpoint_wherever_both_are() throws Exception {
        String url = start(
                "--management.endpoints.web.base-path=/ops",
                "--management.endpoints.web.path-mapping.syncguard=locks",
                "--management.endpoints.web.path-mapping.syncguardconsole=pages/locks");

        String page = get(url, "/ops/pages/locks").body();

        URI endpoint = URI.create(url + "/ops/pages/locks").resolve(value(page, "endpoint"));
        assertThat(endpoint.getPath()).isEqualTo("/ops/locks");
        assertThat(get(url, endpoint.getPath()).body()).contains("\"managers\"");
    }

    @Test
    void keys_are_shown_to_users_with_a_role() throws Exception {
        String shows = "--management.endpoint.syncguard.show-values=when-authorized";
        String operator = "--management.endpoint.syncguard.roles=operator";
        String nobody = "--management.endpoint.syncguard.roles=nobody";
        String url = start(shows, operator);
        String other = start(shows, nobody);
        application(shows, operator).getBean(LockManager.class).acquire(LockRequest.of("order:42"));
        application(shows, nobody).getBean(LockManager.class).acquire(LockRequest.of("order:42"));

        assertThat(get(url, "/actuator/syncguard").body()).contains("order:42", "\"keysShown\":true");
        assertThat(get(other, "/actuator/syncguard").body())
                .doesNotContain("order:42")
                .contains("\"keysShown\":false");
    }

    @Test
    void the_endpoint_does_the_same_over_jmx() throws Exception {
        ConfigurableApplicationContext application = application(
                "--spring.jmx.enabled=true",
                "--management.endpoints.jmx.exposure.include=syncguard",
                "--management.endpoint.syncguard.show-values=always",
                UNRESTRICTED);
        LockManager locks = application.getBean(LockManager.class);
        locks.acquire(LockRequest.of("order:42"));
        MBeanServer server = application.getBean(MBeanServer.class);
        ObjectName endpoint = new ObjectName("org.springframework.boot:type=Endpoint,name=Syncguard");

        assertThat(String.valueOf(invoke(server, endpoint, "locks", 5))).contains("order:42");
        assertThat(String.valueOf(invoke(server, endpoint, "lock", 2, "order:42")))
                .contains("holders");
        assertThat(String.valueOf(invoke(server, endpoint, "forceRelease", 4, "order:42", 7L)))
                .contains("released=[]", "remaining=[{");
        assertThat(locks.isLocked("order:42")).isTrue();
        assertThat(String.valueOf(invoke(server, endpoint, "forceRelease", 4, "order:42")))
                .contains("released=[{", "remaining=[]");
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void it_is_there_in_a_reactive_application() throws Exception {
        String url = urlOf(reactive());

        HttpResponse<String> page = get(url, "/actuator/syncguardconsole");

        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html;charset=UTF-8");
        assertThat(value(page.body(), "csrf-header")).isEmpty();
        assertThat(get(url, "/actuator/syncguard").body()).contains("\"managers\"");
        assertThat(delete(url + "/actuator/syncguard?key=a").statusCode()).isEqualTo(403);
    }

    @Test
    void a_refusal_says_why() throws Exception {
        assertRefusals(start());
        assertRefusals(urlOf(reactive()));
        String roles = "--management.endpoint.syncguard.show-values=when-authorized";
        assertThat(get(start(roles, "--management.endpoint.syncguard.roles=nobody"), "/actuator/syncguard/order:42")
                        .body())
                .contains("(management.endpoint.syncguard.show-values=when-authorized)");
    }

    private void assertRefusals(String url) throws Exception {
        String hidden = "Keys are hidden (management.endpoint.syncguard.show-values=never), and no lock has this hash"
                + " now: GET /actuator/syncguard shows the hashes";
        for (Map.Entry<String, String> each : Map.of(
                        "/order:42",
                        hidden,
                        "/free",
                        hidden,
                        "/0123456789abcdef01234567",
                        hidden,
                        "?key=order:42",
                        hidden,
                        "?prefix=order",
                        "Leave out 'prefix'",
                        "?after=order",
                        "continues after a hash",
                        "?limit=0",
                        "from 1 to 1000",
                        "/order:42?manager=none",
                        "There is no lock manager 'none'")
                .entrySet()) {
            HttpResponse<String> answer = get(url, "/actuator/syncguard" + each.getKey());
            assertThat(answer.statusCode()).as(each.getKey()).isEqualTo(400);
            assertThat(answer.headers().firstValue("Content-Type").orElseThrow())
                    .isEqualTo("application/problem+json");
            assertThat(answer.body()).contains("\"detail\":", each.getValue());
        }
    }

    private static Object invoke(MBeanServer server, ObjectName endpoint, String operation, int size, Object... first)
            throws Exception {
        Object[] arguments = new Object[size];
        System.arraycopy(first, 0, arguments, 0, first.length);
        String[] types = Arrays.stream(server.getMBeanInfo(endpoint).getOperations())
                .filter(each -> each.getName().equals(operation))
                .flatMap(each -> Arrays.stream(each.getSignature()))
                .map(MBeanParameterInfo::getType)
                .toArray(String[]::new);
        return server.invoke(endpoint, operation, arguments, types);
    }

    private static String start(String... properties) {
        return urlOf(application(properties));
    }

    private static String urlOf(ConfigurableApplicationContext application) {
        return "http://127.0.0.1:" + application.getEnvironment().getRequiredProperty("local.server.port");
    }

    private static ConfigurableApplicationContext reactive() {
        return applications.computeIfAbsent(
                List.of("reactive"), each -> run(WebApplicationType.REACTIVE, UNRESTRICTED));
    }

    private static ConfigurableApplicationContext application(String... properties) {
        return applications.computeIfAbsent(List.of(properties), each -> run(WebApplicationType.SERVLET, properties));
    }

    private static ConfigurableApplicationContext run(WebApplicationType type, String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(type)
                .properties(PROPERTIES)
                .run(properties);
    }

    private HttpResponse<String> get(String url, String path) throws IOException, InterruptedException {
        return browser.send(
                HttpRequest.newBuilder(URI.create(url + path))
                        .header("Authorization", USER)
                        .build(),
                BodyHandlers.ofString());
    }

    private HttpResponse<String> delete(String url, String... header) throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url)).DELETE().header("Authorization", USER);
        if (header.length > 0) {
            request.header(header[0], header[1]);
        }
        return browser.send(request.build(), BodyHandlers.ofString());
    }

    private static String value(String page, String name) {
        Matcher matcher = Pattern.compile("data-" + name + "=\"([^\"]*)\"").matcher(page);
        assertThat(matcher.find()).isTrue();
        return matcher.group(1);
    }

    private static String hash(HttpResponse<String> page, String element) throws Exception {
        String begin = "<" + element + ">";
        int from = page.body().indexOf(begin) + begin.length();
        String content = page.body().substring(from, page.body().indexOf("</" + element + ">"));
        return Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8)));
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
