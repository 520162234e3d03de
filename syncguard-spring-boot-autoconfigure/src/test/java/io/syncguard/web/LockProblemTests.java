package io.syncguard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.IllegalKeyException;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.StaleFenceException;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardWebAutoConfiguration;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** What a client reads if a controller fails with a lock error, in Spring MVC and in WebFlux. */
@Timeout(60)
class LockProblemTests {

    private static final SortedAutoConfigurations CONFIGURATIONS =
            SortedAutoConfigurations.of(SyncGuardAutoConfiguration.class, SyncGuardWebAutoConfiguration.class);

    private static final HttpClient http = HttpClient.newHttpClient();

    private final WebApplicationContextRunner mvc = new WebApplicationContextRunner()
            .withConfiguration(CONFIGURATIONS)
            .withUserConfiguration(Outages.class)
            .withPropertyValues("syncguard.wait-time=0s")
            .withUserConfiguration(Mvc.class);

    private final ReactiveWebApplicationContextRunner webFlux = new ReactiveWebApplicationContextRunner()
            .withConfiguration(CONFIGURATIONS)
            .withUserConfiguration(Outages.class)
            .withPropertyValues("syncguard.wait-time=0s")
            .withUserConfiguration(WebFlux.class);

    @Test
    void contention_is_a_conflict_that_names_neither_key_nor_owner() {
        String expected = """
            {"detail":"Another request holds the lock. Nothing was done for this one; try again.",\
            "instance":"/orders/alice@example.org","status":409,"title":"Locked","code":"ACQUISITION_TIMEOUT"}\
            """;
        onBoth(client -> {
            try (LockHandle lock = client.context()
                    .getBean(LockManager.class)
                    .acquire(LockRequest.of("order:alice@example.org").owner("alice's host"))) {
                Answer answer = client.post("/orders/alice@example.org");

                assertThat(answer.status()).isEqualTo(409);
                assertThat(answer.retryAfter()).isEqualTo("1");
                assertThat(answer.contentType()).isEqualTo("application/problem+json");
                assertThat(json(answer.body())).isEqualTo(json(expected));
                assertThat(lock.isHeld()).isTrue();
            }
        });
    }

    @Test
    void a_lost_lock_is_an_error_that_no_client_repeats_by_itself() {
        onBoth(client -> {
            try (CapturedLog log = new CapturedLog()) {
                Answer answer = client.post("/lost/42");

                assertThat(answer.status()).isEqualTo(500);
                assertThat(answer.retryAfter()).isNull();
                assertThat(json(answer.body())).isEqualTo(json("""
                    {"detail":"The lock was lost while the work was running, which may be done, in part or as a \
                    whole. Repeat the request only if that does no harm.","instance":"/lost/42","status":500,\
                    "title":"Lock lost","code":"LOST"}\
                    """));
                assertThat(log.messages()).containsExactly("A request was answered with 500: Lock 'order:42' was lost");
            }
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = LockErrorCode.class,
            names = {"SERVICE_UNAVAILABLE", "NETWORK_TIMEOUT", "RATE_LIMITED"})
    void a_server_that_fails_before_a_body_is_unavailable(LockErrorCode code) {
        onBoth(client -> {
            try (CapturedLog log = new CapturedLog()) {
                client.context().getBean(Outage.class).code = code;

                Answer answer = client.post("/orders/42");

                assertThat(answer.status()).isEqualTo(503);
                assertThat(answer.retryAfter()).isEqualTo("5");
                assertThat(json(answer.body())).isEqualTo(json("""
                    {"detail":"The server of the locks is unavailable, and nothing was done under a lock. Repeat \
                    the request later.","instance":"/orders/42","status":503,\
                    "title":"Locks are unavailable","code":"%s"}\
                    """.formatted(code)));
                assertThat(log.messages()).containsExactly("A request was answered with 503: The server is away");
            }
        });
    }

    @Test
    void a_server_that_fails_within_the_body_of_another_lock_may_have_left_work_behind() {
        onBoth(client -> {
            Answer answer = client.post("/nested/42");

            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.retryAfter()).isNull();
            assertThat(answer.body())
                    .contains("Lock service failed", "which may be done, in part or as a whole")
                    .doesNotContain("order:42");
        });
    }

    @ParameterizedTest
    @CsvSource({"illegal, 400", "refused, 409"})
    void a_refusal_within_the_body_of_another_lock_may_have_left_work_behind(String what, int status) {
        onBoth(client -> {
            Answer answer = client.post("/inside/" + what);

            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.retryAfter()).isNull();
            assertThat(answer.body()).contains("The work may be done in part").doesNotContain("Nothing was done");
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = LockErrorCode.class,
            names = {"SERVICE_UNAVAILABLE", "NETWORK_TIMEOUT", "RATE_LIMITED", "ABORTED"})
    void a_failure_of_which_nobody_knows_that_it_came_before_the_work_is_not_repeated(LockErrorCode code) {
        onBoth(client -> {
            try (CapturedLog log = new CapturedLog()) {
                Answer answer = client.post("/failed/" + code);

                assertThat(answer.status()).isEqualTo(500);
                assertThat(answer.retryAfter()).isNull();
                assertThat(answer.body()).contains("Lock service failed").doesNotContain("order:42");
                assertThat(log.messages())
                        .containsExactly("A request was answered with 500: Failed while acquiring lock 'order:42'");
            }
        });
    }

    @Test
    void keys_that_requests_make_illegal_do_not_fill_the_log() {
        onBoth(client -> {
            try (CapturedLog log = new CapturedLog()) {
                for (int i = 0; i < 50; i++) {
                    assertThat(client.post("/orders/" + "x".repeat(600 + i)).status())
                            .isEqualTo(400);
                }
                assertThat(log.messages()).hasSize(1);
            }
        });
    }

    @Test
    void a_warning_of_illegal_keys_counts_those_before_it() {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE);
        IllegalKeyLog illegal = new IllegalKeyLog(now::get);
        IllegalKeyException refusal = new IllegalKeyException("A key must not be empty");
        try (CapturedLog log = new CapturedLog()) {
            illegal.warn(refusal);
            now.addAndGet(Duration.ofSeconds(59).toNanos());
            illegal.warn(refusal);
            illegal.warn(refusal);
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            illegal.warn(refusal);

            assertThat(log.messages())
                    .containsExactly(
                            "A request was answered with 400: A key must not be empty",
                            "A request was answered with 400, and 2 others before it: A key must not be empty");
        }
    }

    @Test
    void a_key_that_the_request_made_illegal_is_a_bad_request() {
        String tooLong = "x".repeat(600);
        onBoth(client -> {
            try (CapturedLog log = new CapturedLog()) {
                Answer answer = client.post("/orders/" + tooLong);

                assertThat(answer.status()).isEqualTo(400);
                assertThat(answer.retryAfter()).isNull();
                assertThat(json(answer.body()))
                        .containsEntry("title", "Invalid key")
                        .containsEntry("code", "INVALID_ARGUMENT");
                assertThat(log.messages()).singleElement().asString().contains("at most 512 UTF-8 bytes");
            }
        });
    }

    @Test
    void a_stale_fence_names_no_resource() {
        onBoth(client -> {
            Answer answer = client.post("/stale/alice@example.org");

            assertThat(answer.status()).isEqualTo(409);
            assertThat(json(answer.body()))
                    .containsEntry("fence", 1)
                    .containsEntry("largestFence", 2)
                    .doesNotContainKey("resource");
            assertThat(String.valueOf(json(answer.body()).get("detail"))).doesNotContain("alice");
        });
    }

    @Test
    void an_exception_with_a_status_of_its_own_keeps_it() {
        onBoth(client -> {
            assertThat(client.post("/missing/42").status()).isEqualTo(404);
            assertThat(client.post("/gone/42").status()).isEqualTo(410);
            assertThat(client.post("/wrapped/42").status()).isEqualTo(500);
            assertThat(client.post("/wrapped/42").body()).contains("Lock lost");
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = LockErrorCode.class,
            names = {"AUTH_FAILED", "SCHEMA_MISSING", "INVALID_ARGUMENT", "INTERNAL"})
    void a_failure_that_stays_is_an_error_that_must_not_be_repeated_and_is_logged(LockErrorCode code) {
        onBoth(client -> {
            try (CapturedLog log = new CapturedLog()) {
                Answer answer = client.post("/failed/" + code);

                assertThat(answer.status()).isEqualTo(500);
                assertThat(answer.retryAfter()).isNull();
                assertThat(answer.body())
                        .contains("Lock service misconfigured", "Repeating the request does not help")
                        .doesNotContain("order:42");
                assertThat(log.messages()).containsExactly("A request was answered with 500");
            }
        });
    }

    @Test
    void an_advice_of_the_application_answers_other_errors_and_wins_if_it_comes_first() {
        mvc.withUserConfiguration(CatchAll.class).run(context -> {
            assertThat(mvc(context).post("/lost/42").status()).isEqualTo(500);
            assertThat(mvc(context).post("/invalid/42").status()).isEqualTo(501);
        });
        mvc.withUserConfiguration(OwnAdvice.class)
                .run(context ->
                        assertThat(mvc(context).post("/lost/42").status()).isEqualTo(410));
        webFlux.withUserConfiguration(OwnAdvice.class)
                .run(context -> onNetty(
                        context,
                        client -> assertThat(client.post("/lost/42").status()).isEqualTo(410)));
    }

    @ParameterizedTest
    @CsvSource({"true, true", "false, false"})
    void a_property_turns_it_off(boolean enabled, boolean there) {
        String property = "syncguard.web.problem-details=" + enabled;
        mvc.withPropertyValues(property)
                .run(context -> assertThat(context.getBeansOfType(LockProblemAdvice.class))
                        .hasSize(there ? 1 : 0));
        webFlux.withPropertyValues(property)
                .run(context -> assertThat(context.getBeansOfType(LockProblemAdvice.class))
                        .hasSize(there ? 1 : 0));
    }

    @Test
    void a_controller_of_webflux_keeps_its_lock_until_its_result_is_there() {
        webFlux.run(context -> onNetty(context, client -> {
            assertThat(client.post("/orders/42").body()).isEqualTo("under order:42");
            assertThat(context.getBean(LockManager.class).isLocked("order:42")).isFalse();
        }));
    }

    private record Answer(
            int status,
            @Nullable String retryAfter,
            @Nullable String contentType,
            String body) {}

    private interface Client {

        ApplicationContext context();

        Answer post(String path) throws Exception;
    }

    private interface Calls {

        void run(Client client) throws Exception;
    }

    private void onBoth(Calls calls) {
        mvc.run(context -> calls.run(mvc(context)));
        webFlux.run(context -> onNetty(context, calls));
    }

    private static Client mvc(WebApplicationContext context) {
        MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
        return new Client() {
            @Override
            public ApplicationContext context() {
                return context;
            }

            @Override
            public Answer post(String path) throws Exception {
                MockHttpServletResponse response = mvc.perform(MockMvcRequestBuilders.post(path))
                        .andReturn()
                        .getResponse();
                return new Answer(
                        response.getStatus(),
                        response.getHeader(HttpHeaders.RETRY_AFTER),
                        response.getContentType(),
                        response.getContentAsString());
            }
        };
    }

    private static void onNetty(ApplicationContext context, Calls calls) throws Exception {
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(
                        WebHttpHandlerBuilder.applicationContext(context).build()))
                .bindNow(Duration.ofSeconds(20));
        try {
            calls.run(new Client() {
                @Override
                public ApplicationContext context() {
                    return context;
                }

                @Override
                public Answer post(String path) throws IOException, InterruptedException {
                    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
                    HttpResponse<String> response = http.send(
                            HttpRequest.newBuilder(uri)
                                    .POST(BodyPublishers.noBody())
                                    .build(),
                            BodyHandlers.ofString());
                    return new Answer(
                            response.statusCode(),
                            response.headers()
                                    .firstValue(HttpHeaders.RETRY_AFTER)
                                    .orElse(null),
                            response.headers().firstValue("Content-Type").orElse(null),
                            response.body());
                }
            });
        } finally {
            server.disposeNow();
        }
    }

    private static Map<String, Object> json(String text) {
        return JsonParserFactory.getJsonParser().parseMap(text);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {

        @Bean
        MvcController controller(LockTemplate locks, Outage outage) {
            return new MvcController(new Orders(locks, outage));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class WebFlux {

        @Bean
        WebFluxController controller(LockTemplate locks, Outage outage) {
            return new WebFluxController(new Orders(locks, outage));
        }
    }

    /** The work of both controllers. */
    private record Orders(LockTemplate locks, Outage outage) {

        String submit(String id) {
            return locks.execute("order:" + id, lock -> id);
        }

        String fail(String why, String value) {
            if (why.equals("nested")) {
                return locks.execute("outer", outer -> {
                    outage.code = LockErrorCode.SERVICE_UNAVAILABLE;
                    return submit("42");
                });
            }
            if (why.equals("inside")) {
                return locks.execute("outer", outer -> {
                    throw value.equals("illegal")
                            ? new IllegalKeyException("A key must not be empty")
                            : new LockNotAcquiredException("order:42", "Lock 'order:42' is held");
                });
            }
            throw switch (why) {
                case "stale" -> new StaleFenceException("account:" + value, new Fence(1), new Fence(2));
                case "missing" -> new ResponseStatusException(HttpStatus.NOT_FOUND, "busy", lost());
                case "gone" -> new GoneException(lost());
                case "wrapped" -> new CompletionException(lost());
                case "lost" -> lost();
                case "failed" ->
                    new LockBackendException(
                            LockErrorCode.valueOf(value), "Failed while acquiring lock 'order:42'", null);
                default -> new LockException(LockErrorCode.INVALID_ARGUMENT, "A key must not be empty");
            };
        }
    }

    private static LockLostException lost() {
        return new LockLostException("order:42", "Lock 'order:42' was lost");
    }

    @ResponseStatus(HttpStatus.GONE)
    static class GoneException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        GoneException(Throwable cause) {
            super(cause);
        }
    }

    /** Its server fails with this code. */
    static class Outage {

        volatile @Nullable LockErrorCode code;
    }

    @Configuration(proxyBeanMethods = false)
    static class Outages {

        @Bean
        Outage outage() {
            return new Outage();
        }

        @Bean
        LockBackend backend(Outage outage) {
            InterceptedBackend backend = new InterceptedBackend(new InMemoryLockBackend());
            backend.beforeAcquire = () -> {
                if (outage.code != null) {
                    throw new LockBackendException(outage.code, "The server is away", null);
                }
            };
            return backend;
        }
    }

    @RestController
    record MvcController(Orders orders) {

        @PostMapping("/orders/{id}")
        String submit(@PathVariable("id") String id) {
            return orders.submit(id);
        }

        @PostMapping("/{why}/{value}")
        String fail(@PathVariable("why") String why, @PathVariable("value") String value) {
            return orders.fail(why, value);
        }
    }

    /** A class, because no proxy extends a record. */
    @RestController
    static class WebFluxController {

        private final Orders orders;

        WebFluxController(Orders orders) {
            this.orders = orders;
        }

        @DistributedLock(name = "order", key = "#id")
        @PostMapping("/orders/{id}")
        Mono<String> submit(@PathVariable("id") String id) {
            return Mono.deferContextual(context ->
                    Mono.just("under " + context.get(LockHandle.class).key()));
        }

        @PostMapping("/{why}/{value}")
        Mono<String> fail(@PathVariable("why") String why, @PathVariable("value") String value) {
            return Mono.fromCallable(() -> orders.fail(why, value));
        }
    }

    @RestControllerAdvice
    static class CatchAll {

        @ExceptionHandler
        ProblemDetail any(Exception ex) {
            return ProblemDetail.forStatus(HttpStatus.NOT_IMPLEMENTED);
        }
    }

    @RestControllerAdvice
    @Order(-1)
    static class OwnAdvice {

        @ExceptionHandler
        ProblemDetail lost(LockLostException ex) {
            return ProblemDetail.forStatus(HttpStatus.GONE);
        }
    }
}
