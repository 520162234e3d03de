package io.syncguard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.StaleFenceException;
import io.syncguard.autoconfigure.SyncGuardDisabledAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardWebAutoConfiguration;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.testing.FencingApplications;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.test.web.servlet.client.MockMvcClientHttpRequestFactory;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.client.RestClient;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** A client sends the fence of its lock, and a service refuses a smaller one than it has seen. */
@Timeout(60)
class FenceHttpTests {

    private final WebApplicationContextRunner runner =
            FencingApplications.runner().withUserConfiguration(Service.class);

    @Test
    void a_request_carries_the_fence_of_the_lock_and_the_service_records_it() {
        run((client, context) -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            locks.execute("account:42", lock -> post(client, "/accounts/42"));
            locks.execute("account:42", lock -> post(client, "/accounts/42"));

            assertThat(done(context)).containsExactly("42 000000000000001", "42 000000000000002");
            assertThat(seen(context)).isEqualTo(2);
        });
    }

    @Test
    void a_smaller_fence_is_a_conflict_and_its_work_is_rolled_back() {
        run((client, context) -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            post(client, "/accounts/42", "7");

            ResponseEntity<Map<String, Object>> answer =
                    locks.execute("account:42", lock -> post(client, "/accounts/42"));

            assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.CONFLICT);
            assertThat(answer.getHeaders().getContentType()).isEqualTo(MediaType.APPLICATION_PROBLEM_JSON);
            assertThat(answer.getBody())
                    .containsEntry("status", 409)
                    .containsEntry("title", "Stale fence")
                    .doesNotContainKey("resource")
                    .containsEntry("fence", 1)
                    .containsEntry("largestFence", 7)
                    .hasEntrySatisfying(
                            "detail",
                            detail -> assertThat(detail.toString())
                                    .contains("000000000000001", "000000000000007", "Acquire the lock again"));
            assertThat(done(context)).containsExactly("42 000000000000007");
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0", "-1", "+1", "1.5", "0x1", "900000000000001", "1000000000000000", "one", "1, 2", "\u0661"
            })
    void a_malformed_header_is_a_bad_request(String value) {
        run((client, context) -> {
            ResponseEntity<Map<String, Object>> answer = post(client, "/accounts/42", value);

            assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
            assertThat(answer.getHeaders().getContentType()).isEqualTo(MediaType.APPLICATION_PROBLEM_JSON);
            assertThat(answer.getBody())
                    .containsEntry("title", "Invalid fence")
                    .hasEntrySatisfying(
                            "detail",
                            detail -> assertThat(detail.toString()).contains("Syncguard-Fence", "900000000000000"));
            assertThat(done(context)).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"900000000000000", "810000000000000", "800000000000000", "400000000000000"})
    void a_fence_from_the_future_is_a_bad_request_and_blocks_nobody(String value) {
        run((client, context) -> {
            ResponseEntity<Map<String, Object>> answer = post(client, "/accounts/42", value);

            assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
            assertThat(answer.getBody()).containsEntry("title", "Invalid fence");
            assertThat(post(client, "/accounts/42", "8").getStatusCode().is2xxSuccessful())
                    .isTrue();
        });
    }

    @Test
    void two_headers_are_a_bad_request() {
        run((client, context) -> {
            ResponseEntity<Map<String, Object>> answer = post(client, "/accounts/42", "1", "2");

            assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
            assertThat(answer.getBody())
                    .hasEntrySatisfying(
                            "detail", detail -> assertThat(detail.toString()).contains("more than one"));
        });
    }

    @Test
    void without_a_lock_there_is_no_header_and_a_method_that_needs_one_refuses() {
        run((client, context) -> {
            ResponseEntity<Map<String, Object>> answer = post(client, "/accounts/42");

            assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
            assertThat(answer.getBody())
                    .hasEntrySatisfying(
                            "detail",
                            detail -> assertThat(detail.toString()).contains("has no header Syncguard-Fence"));
        });
    }

    @Test
    void a_fence_may_be_optional() {
        run((client, context) -> {
            for (String path : List.of("/optional/42", "/nullable/42")) {
                assertThat(post(client, path).getStatusCode()).isEqualTo(HttpStatus.OK);
                assertThat(post(client, path, "5").getStatusCode()).isEqualTo(HttpStatus.OK);
                assertThat(post(client, path, "five").getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
            }
            assertThat(done(context)).containsExactly("42 none", "42 000000000000005", "42 none", "42 000000000000005");
        });
    }

    @Test
    void of_nested_locks_the_innermost_sends_its_fence_and_a_header_of_the_application_stays() {
        run((client, context) -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            locks.execute("inner", lock -> null);
            locks.execute(
                    "outer",
                    outer -> locks.execute("inner", inner -> {
                        post(client, "/optional/inner");
                        return post(client, "/optional/outer", outer.fence().toString());
                    }));

            assertThat(done(context)).containsExactly("inner 000000000000002", "outer 000000000000001");
        });
    }

    @Test
    void a_rotated_fence_is_sent_from_then_on() {
        run((client, context) -> {
            context.getBean(LockTemplate.class)
                    .executeWithoutResult(LockRequest.of("account:42"), LockHandle::rotateFence);
            context.getBean(LockTemplate.class).execute("account:42", lock -> {
                lock.rotateFence();
                return post(client, "/accounts/42");
            });

            assertThat(done(context)).containsExactly("42 000000000000004");
        });
    }

    @Test
    void an_advice_of_the_application_may_answer_otherwise() {
        runner.withUserConfiguration(OwnAdvice.class).run(context -> {
            RestClient client = client(context);
            post(client, "/accounts/42", "7");

            assertThat(post(client, "/accounts/42", "6").getStatusCode()).isEqualTo(HttpStatus.GONE);
        });
    }

    @Test
    void neither_locks_nor_a_database_nor_spring_mvc_are_needed() {
        new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(SyncGuardWebAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("org.springframework.web.servlet", "org.springframework.jdbc"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(FenceHeaderInterceptor.class));
        new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(SyncGuardWebAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("org.springframework.web", "org.springframework.http"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("syncGuardFenceHeaderInterceptor"));
    }

    @Test
    void a_service_without_locks_receives_fences() {
        runner.withPropertyValues("syncguard.enabled=false").run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean(LockTemplate.class);
            RestClient client = client(context);
            assertThat(post(client, "/accounts/42", "7").getStatusCode()).isEqualTo(HttpStatus.OK);
            assertThat(post(client, "/accounts/42", "6").getStatusCode()).isEqualTo(HttpStatus.CONFLICT);
        });
    }

    /** Fences of an application without locks begin again with each process, so a receiver would refuse them. */
    @Test
    void an_application_without_locks_sends_none() {
        new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(
                        SyncGuardWebAutoConfiguration.class, SyncGuardDisabledAutoConfiguration.class))
                .withPropertyValues("syncguard.enabled=false")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    MockClientHttpRequest request = new MockClientHttpRequest();
                    request.setResponse(new MockClientHttpResponse(new byte[0], HttpStatus.OK));
                    FenceHeaderInterceptor interceptor = context.getBean(FenceHeaderInterceptor.class);
                    int status = context.getBean(LockTemplate.class)
                            .execute(
                                    "account:42",
                                    lock -> interceptor
                                            .intercept(request, new byte[0], (sent, body) -> request.execute())
                                            .getStatusCode()
                                            .value());
                    assertThat(status).isEqualTo(HttpStatus.OK.value());
                    assertThat(request.getHeaders().containsHeader("Syncguard-Fence"))
                            .isFalse();
                });
    }

    private interface Calls {
        void run(RestClient client, WebApplicationContext context);
    }

    private void run(Calls calls) {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            calls.run(client(context), context);
        });
    }

    private static RestClient client(WebApplicationContext context) {
        return RestClient.builder()
                .requestFactory(new MockMvcClientHttpRequestFactory(
                        MockMvcBuilders.webAppContextSetup(context).build()))
                .requestInterceptor(context.getBean(FenceHeaderInterceptor.class))
                .defaultStatusHandler(status -> true, (request, response) -> {})
                .build();
    }

    private static ResponseEntity<Map<String, Object>> post(RestClient client, String path, String... fences) {
        return client.post()
                .uri(path)
                .headers(headers -> {
                    for (String fence : fences) {
                        headers.add("Syncguard-Fence", fence);
                    }
                })
                .retrieve()
                .toEntity(new ParameterizedTypeReference<>() {});
    }

    private static List<String> done(WebApplicationContext context) {
        return context.getBean(JdbcTemplate.class).queryForList("SELECT done FROM work ORDER BY id", String.class);
    }

    private static long seen(WebApplicationContext context) {
        return context.getBean(JdbcTemplate.class)
                .queryForObject("SELECT fence FROM syncguard_fences WHERE resource = 'account:42'", Long.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Service {

        @Bean
        Accounts accounts(JdbcTemplate jdbc, FenceGuard fences) {
            return new Accounts(jdbc, fences);
        }

        @Bean
        AccountController controller(Accounts accounts) {
            return new AccountController(accounts);
        }

        /** Applications have such a handler for all other errors. */
        @Bean
        CatchAll catchAll() {
            return new CatchAll();
        }
    }

    static class Accounts {

        private final JdbcTemplate jdbc;
        private final FenceGuard fences;

        Accounts(JdbcTemplate jdbc, FenceGuard fences) {
            this.jdbc = jdbc;
            this.fences = fences;
            jdbc.execute("CREATE TABLE IF NOT EXISTS work (id BIGINT GENERATED ALWAYS AS IDENTITY, done VARCHAR(100))");
        }

        @Transactional
        public void book(String account, Fence fence) {
            insert(account, fence);
            fences.check("account:" + account, fence);
        }

        void insert(String account, @Nullable Fence fence) {
            jdbc.update("INSERT INTO work (done) VALUES (?)", account + " " + (fence == null ? "none" : fence));
        }
    }

    @RestController
    static class AccountController {

        private final Accounts accounts;
        private final List<String> headers = new CopyOnWriteArrayList<>();

        AccountController(Accounts accounts) {
            this.accounts = accounts;
        }

        @PostMapping("/accounts/{account}")
        void book(@PathVariable("account") String account, Fence fence, WebRequest request) {
            request.getHeaderNames().forEachRemaining(name -> {
                if (name.endsWith("Fence")) {
                    headers.add(name);
                }
            });
            accounts.book(account, fence);
        }

        @PostMapping("/optional/{account}")
        void bookOptional(@PathVariable("account") String account, Optional<Fence> fence) {
            accounts.insert(account, fence.orElse(null));
        }

        @PostMapping("/nullable/{account}")
        void bookNullable(@PathVariable("account") String account, @Nullable Fence fence) {
            accounts.insert(account, fence);
        }
    }

    @RestControllerAdvice
    static class CatchAll {

        @ExceptionHandler
        ProblemDetail any(Exception ex) {
            return ProblemDetail.forStatus(HttpStatus.INTERNAL_SERVER_ERROR);
        }
    }

    @RestControllerAdvice
    @Order(-1)
    static class OwnAdvice {

        @ExceptionHandler
        ProblemDetail stale(StaleFenceException ex) {
            return ProblemDetail.forStatus(HttpStatus.GONE);
        }
    }
}
