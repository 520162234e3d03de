package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.StaleFenceException;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.web.FenceHeaderInterceptor;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.web.servlet.client.MockMvcClientHttpRequestFactory;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;
import org.springframework.web.server.ResponseStatusException;

/** The payment of docs/receiver.md, compiled and run by two instances. */
@Timeout(60)
class PaymentRecipeTests {

    private static final String SCHEMA = "CREATE TABLE payment ("
            + "customer BIGINT, id TEXT, cents BIGINT NOT NULL, charged BOOLEAN NOT NULL DEFAULT false,"
            + " PRIMARY KEY (customer, id))";

    private static final Payment CHARGED = new Payment(7, "4711", 100, true);

    private static final Payment OPEN = new Payment(7, "4711", 100, false);

    private final RecipeInstances instances =
            new RecipeInstances(Shop.class, SCHEMA, "syncguard.wait-time=0s", "syncguard.fencing.enabled=true");

    @Test
    void a_payment_that_two_instances_are_asked_for_is_charged_once() {
        instances.run((one, two) -> {
            assertThat(one.getBean(Checkout.class).pay(7, "4711", 100)).isEqualTo(CHARGED);
            assertThat(two.getBean(Checkout.class).pay(7, "4711", 999)).isEqualTo(CHARGED);

            assertThat(one.getBean(ProviderApi.class).charges).containsExactly("7:4711: 100");
            assertThat(two.getBean(ProviderApi.class).charges).isEmpty();
        });
    }

    @Test
    void customers_who_use_the_same_id_have_payments_of_their_own() {
        instances.run((one, two) -> {
            assertThat(one.getBean(Checkout.class).pay(7, "4711", 100)).isEqualTo(CHARGED);
            assertThat(one.getBean(Checkout.class).pay(8, "4711", 250)).isEqualTo(new Payment(8, "4711", 250, true));

            assertThat(one.getBean(ProviderApi.class).charges).containsExactly("7:4711: 100", "8:4711: 250");
        });
    }

    @Test
    void a_payment_whose_lock_is_lost_after_the_charge_is_open_until_a_repetition_completes_it() {
        instances.run((one, two) -> {
            ProviderApi provider = one.getBean(ProviderApi.class);
            provider.afterCharge = () -> instances.endLease("payment:7:4711");

            assertThatThrownBy(() -> one.getBean(Checkout.class).pay(7, "4711", 100))
                    .isInstanceOf(LockLostException.class);
            assertThat(two.getBean(Ledger.class).find(7, "4711")).isEqualTo(OPEN);

            provider.afterCharge = () -> {};
            assertThat(one.getBean(Checkout.class).pay(7, "4711", 100)).isEqualTo(CHARGED);
            assertThat(provider.charges).containsExactly("7:4711: 100");
        });
    }

    @Test
    void a_holder_that_is_overtaken_after_the_charge_commits_nothing_and_the_next_one_completes_the_payment() {
        instances.run((one, two) -> {
            one.getBean(ProviderApi.class).afterCharge = () -> {
                instances.endLease("payment:7:4711");
                // On another thread, as in another process: this one works under the lock of the first.
                assertThat(CompletableFuture.supplyAsync(
                                        () -> two.getBean(Checkout.class).pay(7, "4711", 100))
                                .join())
                        .isEqualTo(CHARGED);
                instances.database.update("UPDATE payment SET charged = false");
            };

            assertThatThrownBy(() -> one.getBean(Checkout.class).pay(7, "4711", 100))
                    .isInstanceOf(LockLostException.class);

            assertThat(two.getBean(Ledger.class).find(7, "4711"))
                    .as("the first holder did not write")
                    .isEqualTo(OPEN);
        });
    }

    @Test
    void the_provider_gets_the_fence_and_refuses_that_of_a_holder_that_was_overtaken() {
        instances.run((one, two) -> {
            ProviderApi provider = one.getBean(ProviderApi.class);
            provider.largest = 2;

            assertThatThrownBy(() -> one.getBean(Checkout.class).pay(7, "4711", 100))
                    .isInstanceOfSatisfying(
                            HttpClientErrorException.class,
                            refusal -> assertThat(refusal.getStatusCode()).isEqualTo(HttpStatus.CONFLICT));
            assertThat(provider.charges).isEmpty();

            assertThat(one.getBean(Checkout.class).pay(7, "4711", 100)).isEqualTo(CHARGED);
            assertThat(provider.charges).containsExactly("7:4711: 100");
        });
    }

    @Test
    void a_ledger_in_another_database_refuses_a_smaller_fence() {
        instances.run((one, two) -> {
            LedgerElsewhere ledger = one.getBean(LedgerElsewhere.class);
            one.getBean(Ledger.class).begin(7, "4711", 100);
            // Joins the lock of the caller, and checks its fence, which is 1.
            one.getBean(LockTemplate.class)
                    .executeWithoutResult(
                            LockRequest.of("payment:7:4711"),
                            lock -> assertThat(ledger.charged(OPEN)).isEqualTo(CHARGED));

            two.getBean(TransactionTemplate.class)
                    .executeWithoutResult(
                            transaction -> two.getBean(FenceGuard.class).check("payment:7:4711", new Fence(7)));
            instances.database.update("UPDATE payment SET charged = false");
            assertThatThrownBy(() -> ledger.charged(OPEN)).isInstanceOf(StaleFenceException.class);
            assertThat(two.getBean(Ledger.class).find(7, "4711")).isEqualTo(OPEN);
        });
    }

    record Payment(long customer, String id, long cents, boolean charged) {}

    @Configuration(proxyBeanMethods = false)
    @Import({Checkout.class, Ledger.class, LedgerElsewhere.class, ProviderApi.class})
    static class Shop {

        @Bean
        Provider provider(ProviderApi api, FenceHeaderInterceptor fenceHeader) {
            return new Provider(RestClient.builder()
                    .requestFactory(new MockMvcClientHttpRequestFactory(
                            MockMvcBuilders.standaloneSetup(api).build()))
                    .requestInterceptor(fenceHeader)
                    .build());
        }
    }

    /** Another service, which knows idempotency keys and fences. */
    @RestController
    static class ProviderApi {

        private final Set<String> charges = new LinkedHashSet<>();
        private long largest;
        private Runnable afterCharge = () -> {};

        @PostMapping("/charges")
        void charge(
                @RequestHeader("Idempotency-Key") String idempotencyKey,
                @RequestHeader("Syncguard-Fence") long fence,
                @RequestParam("cents") long cents) {
            if (fence < largest) {
                throw new ResponseStatusException(HttpStatus.CONFLICT);
            }
            largest = fence;
            charges.add(idempotencyKey + ": " + cents);
            afterCharge.run();
        }
    }

    static class Checkout {

        private final Ledger ledger;
        private final Provider provider;

        Checkout(Ledger ledger, Provider provider) {
            this.ledger = ledger;
            this.provider = provider;
        }

        // sample: recipe-payment
        @DistributedLock(name = "payment", key = "#customer + ':' + #id", commitGuard = CommitGuard.REQUIRED)
        public Payment pay(long customer, String id, long cents) {
            Payment payment = ledger.begin(customer, id, cents); // committed before the provider is called
            if (payment.charged()) {
                return payment; // a repetition
            }
            provider.charge(payment);
            return ledger.charged(payment);
        }
        // end
    }

    static class Ledger {

        private final JdbcTemplate jdbc;

        Ledger(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        public Payment begin(long customer, String id, long cents) {
            jdbc.update(
                    "INSERT INTO payment (customer, id, cents) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    customer,
                    id,
                    cents);
            return find(customer, id);
        }

        @Transactional
        public Payment charged(Payment payment) {
            jdbc.update(
                    "UPDATE payment SET charged = true WHERE customer = ? AND id = ?",
                    payment.customer(),
                    payment.id());
            return find(payment.customer(), payment.id());
        }

        Payment find(long customer, String id) {
            return jdbc.queryForObject(
                    "SELECT customer, id, cents, charged FROM payment WHERE customer = ? AND id = ?",
                    DataClassRowMapper.newInstance(Payment.class),
                    customer,
                    id);
        }
    }

    record Provider(RestClient http) { // with the FenceHeaderInterceptor

        void charge(Payment payment) {
            http.post()
                    .uri("/charges?cents={cents}", payment.cents())
                    .header("Idempotency-Key", payment.customer() + ":" + payment.id()) // the same one each time
                    .retrieve()
                    .toBodilessEntity();
        }
    }

    static class LedgerElsewhere {

        private final JdbcTemplate jdbc;

        LedgerElsewhere(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @DistributedLock(
                name = "payment",
                key = "#payment.customer + ':' + #payment.id", // joins that of pay
                fencedResource = "#payment.customer + ':' + #payment.id")
        public Payment charged(Payment payment) {
            jdbc.update(
                    "UPDATE payment SET charged = true WHERE customer = ? AND id = ?",
                    payment.customer(),
                    payment.id());
            return new Payment(payment.customer(), payment.id(), payment.cents(), true);
        }
    }
}
