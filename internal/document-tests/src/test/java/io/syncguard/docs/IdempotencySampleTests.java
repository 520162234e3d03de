package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardWebAutoConfiguration;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.web.servlet.client.MockMvcClientHttpRequestFactory;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientResponseException;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** The samples of docs/web.md, compiled and run against PostgreSQL, with a client that repeats its requests. */
@Timeout(60)
class IdempotencySampleTests {

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate database = new JdbcTemplate(PostgresServer.dataSource(url));
    private final List<Duration> pauses = new ArrayList<>();

    @Test
    void a_payment_that_is_requested_twice_is_made_once() {
        run((context, client) -> {
            assertThat(client.pay("4711", 100)).isEqualTo(new Payment("4711", 100));
            assertThat(client.pay("4711", 100)).isEqualTo(new Payment("4711", 100));

            assertThat(charges(context)).containsExactly("7:4711");
            assertThat(pauses).isEmpty();
        });
    }

    @Test
    void customers_who_use_the_same_key_have_payments_of_their_own() {
        run((context, client) -> {
            PaymentClient other = client((WebApplicationContext) context, "8");
            assertThat(client.pay("4711", 100)).isEqualTo(new Payment("4711", 100));
            assertThat(other.pay("4711", 250)).isEqualTo(new Payment("4711", 250));
            assertThat(client.pay("4711", 100)).isEqualTo(new Payment("4711", 100));

            assertThat(charges(context)).containsExactly("7:4711", "8:4711");
        });
    }

    @Test
    void a_request_that_met_contention_is_repeated_after_the_time_that_the_answer_names() {
        run((context, client) -> {
            LockHandle other = context.getBean(LockManager.class).acquire(LockRequest.of("payment:7:4711"));
            PaymentClient patient = new PaymentClient(client.rest(), pause -> {
                pauses.add(pause);
                other.release();
            });

            assertThat(patient.pay("4711", 100)).isEqualTo(new Payment("4711", 100));

            assertThat(pauses).containsExactly(Duration.ofSeconds(1));
            assertThat(charges(context)).containsExactly("7:4711");
        });
    }

    @Test
    void a_payment_whose_lock_is_lost_before_the_commit_is_repeated_and_charged_once() {
        run((context, client) -> {
            Provider provider = context.getBean(Provider.class);
            provider.afterCharge = () -> {
                provider.afterCharge = () -> {};
                database.update("DELETE FROM syncguard_locks");
            };

            assertThat(client.pay("4711", 100)).isEqualTo(new Payment("4711", 100));

            assertThat(pauses).containsExactly(Duration.ofSeconds(5));
            assertThat(charges(context)).containsExactly("7:4711");
            assertThat(database.queryForObject("SELECT count(*) FROM payment", Long.class))
                    .isEqualTo(1);
        });
    }

    @Test
    void a_refusal_for_another_reason_is_not_repeated() {
        run((context, client) -> {
            assertThatThrownBy(() -> client.pay("4711", -1)).isInstanceOf(HttpClientErrorException.BadRequest.class);
            assertThat(pauses).isEmpty();
        });
    }

    private interface Calls {

        void run(ApplicationContext context, PaymentClient client);
    }

    private void run(Calls calls) {
        new WebApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        PostgresLockAutoConfiguration.class,
                        SyncGuardAutoConfiguration.class,
                        SyncGuardWebAutoConfiguration.class))
                .withPropertyValues("spring.datasource.url=" + url, "syncguard.wait-time=0s")
                .withUserConfiguration(Shop.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    database.execute("CREATE TABLE payment (customer BIGINT, idempotency_key TEXT,"
                            + " cents BIGINT NOT NULL, PRIMARY KEY (customer, idempotency_key))");
                    calls.run(context, client(context, "7"));
                });
    }

    private PaymentClient client(WebApplicationContext context, String customer) {
        return new PaymentClient(
                RestClient.builder()
                        .requestFactory(new MockMvcClientHttpRequestFactory(MockMvcBuilders.webAppContextSetup(context)
                                .defaultRequest(MockMvcRequestBuilders.get("/").principal(() -> customer))
                                .build()))
                        .build(),
                pauses::add);
    }

    private static List<String> charges(ApplicationContext context) {
        return context.getBean(Provider.class).charges;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @Import({Payments.class, PaymentController.class, Provider.class})
    static class Shop {}

    record Payment(String idempotencyKey, long cents) {}

    /** A service of another company, which knows idempotency keys. */
    static class Provider {

        private final List<String> charges = new ArrayList<>();
        private Runnable afterCharge = () -> {};

        void charge(String idempotencyKey, long cents) {
            if (!charges.contains(idempotencyKey)) {
                charges.add(idempotencyKey);
            }
            afterCharge.run();
        }
    }

    static class Payments {

        private final JdbcTemplate jdbc;
        private final Provider provider;

        Payments(JdbcTemplate jdbc, Provider provider) {
            this.jdbc = jdbc;
            this.provider = provider;
        }

        // sample: idempotent-service
        @DistributedLock(name = "payment", key = "#customer + ':' + #idempotencyKey")
        @Transactional
        public Payment pay(long customer, String idempotencyKey, long cents) {
            return find(customer, idempotencyKey).orElseGet(() -> {
                provider.charge(customer + ":" + idempotencyKey, cents); // so that the provider charges once, too
                jdbc.update("INSERT INTO payment VALUES (?, ?, ?)", customer, idempotencyKey, cents);
                return new Payment(idempotencyKey, cents);
            });
        }

        private Optional<Payment> find(long customer, String idempotencyKey) {
            return jdbc
                    .query(
                            "SELECT cents FROM payment WHERE customer = ? AND idempotency_key = ?",
                            (row, number) -> new Payment(idempotencyKey, row.getLong("cents")),
                            customer,
                            idempotencyKey)
                    .stream()
                    .findFirst();
        }
        // end
    }

    @RestController
    record PaymentController(Payments payments) {

        @PostMapping("/payments")
        ResponseEntity<Payment> pay(
                Principal user, // a customer repeats its own requests, and sees no others
                @RequestHeader("Idempotency-Key") String idempotencyKey,
                @RequestParam("cents") long cents) {
            return cents > 0
                    ? ResponseEntity.ok(payments.pay(Long.parseLong(user.getName()), idempotencyKey, cents))
                    : ResponseEntity.badRequest().build();
        }
    }

    /** Repeats what the answer allows, after the time that it names, and not for ever. */
    record PaymentClient(RestClient rest, Consumer<Duration> pause) {

        Payment pay(String idempotencyKey, long cents) {
            for (int tries = 1; ; tries++) {
                try {
                    return rest.post()
                            .uri("/payments?cents={cents}", cents)
                            .header("Idempotency-Key", idempotencyKey) // the same one each time
                            .retrieve()
                            .body(Payment.class);
                } catch (RestClientResponseException ex) {
                    String retryAfter = ex.getResponseHeaders().getFirst(HttpHeaders.RETRY_AFTER);
                    // The key makes it harmless to repeat a request that may have been done.
                    boolean repeats = retryAfter != null || ex.getStatusCode().is5xxServerError();
                    if (!repeats || tries == 5) {
                        throw ex;
                    }
                    pause.accept(Duration.ofSeconds(retryAfter == null ? 5 : Long.parseLong(retryAfter)));
                }
            }
        }
    }
}
