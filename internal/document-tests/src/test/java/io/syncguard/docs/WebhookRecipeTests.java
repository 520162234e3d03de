package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** The webhook of docs/web.md, compiled and run by two instances. */
@Timeout(60)
class WebhookRecipeTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static final String SCHEMA = "CREATE TABLE webhook_event (id TEXT PRIMARY KEY);"
            + " CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT NOT NULL, version BIGINT NOT NULL)";

    private final RecipeInstances instances = instances("10s");

    @Test
    void a_delivery_that_is_repeated_later_is_answered_as_the_first_one_and_changes_nothing() {
        instances.run((one, two) -> {
            assertThat(deliver(one, "e1", "PAID", 1).getStatus()).isEqualTo(200);
            assertThat(deliver(two, "e1", "PAID", 1).getStatus()).isEqualTo(200);

            assertThat(notified(one)).containsExactly("e1");
            assertThat(notified(two)).isEmpty();
        });
    }

    @Test
    void two_deliveries_of_one_event_at_the_same_time_are_processed_one_after_the_other() {
        instances.run((one, two) -> {
            FutureTask<MockHttpServletResponse> second = new FutureTask<>(() -> deliver(two, "e1", "PAID", 1));
            one.getBean(Warehouse.class).beforeNotice = () -> {
                new Thread(second).start();
                await().atMost(LIMIT).until(() -> instances.count("syncguard_locks_waiters") == 1);
            };

            assertThat(deliver(one, "e1", "PAID", 1).getStatus()).isEqualTo(200);
            assertThat(second.get(20, TimeUnit.SECONDS).getStatus()).isEqualTo(200);

            assertThat(notified(one)).containsExactly("e1");
            assertThat(notified(two)).isEmpty();
        });
    }

    @Test
    void an_older_event_that_arrives_late_changes_nothing() {
        instances.run((one, two) -> {
            deliver(one, "e2", "SENT", 2);
            assertThat(deliver(two, "e1", "PAID", 1).getStatus()).isEqualTo(200);

            assertThat(state()).isEqualTo("SENT");
            assertThat(notified(two)).isEmpty();
        });
    }

    @Test
    void a_delivery_that_waited_in_vain_is_answered_with_409_and_can_be_repeated() {
        RecipeInstances impatient = instances("0s");
        impatient.run((one, two) -> {
            LockHandle busy = one.getBean(LockManager.class).acquire(LockRequest.of("order:42"));
            MockHttpServletResponse answer = deliver(two, "e1", "PAID", 1);
            assertThat(answer.getStatus()).isEqualTo(409);
            assertThat(answer.getHeader(HttpHeaders.RETRY_AFTER)).isEqualTo("1");
            assertThat(impatient.count("webhook_event")).isZero();

            busy.release();
            assertThat(deliver(two, "e1", "PAID", 1).getStatus()).isEqualTo(200);
        });
    }

    @Test
    void a_delivery_whose_lock_is_lost_is_rolled_back_answered_with_500_and_can_be_repeated() {
        instances.run((one, two) -> {
            one.getBean(Warehouse.class).beforeNotice = () -> instances.endLease("order:42");
            MockHttpServletResponse answer = deliver(one, "e1", "PAID", 1);
            assertThat(answer.getStatus()).isEqualTo(500);
            assertThat(answer.getHeader(HttpHeaders.RETRY_AFTER)).isNull();
            assertThat(instances.count("webhook_event")).isZero();
            assertThat(instances.count("orders")).isZero();

            assertThat(deliver(two, "e1", "PAID", 1).getStatus()).isEqualTo(200);
            assertThat(state()).isEqualTo("PAID");
            assertThat(notified(one))
                    .as("what the transaction cannot roll back")
                    .containsExactly("e1");
            assertThat(notified(two)).containsExactly("e1");
        });
    }

    private static RecipeInstances instances(String waitTime) {
        return new RecipeInstances(Shop.class, SCHEMA, "syncguard.wait-time=" + waitTime);
    }

    private static MockHttpServletResponse deliver(WebApplicationContext to, String id, String state, long version)
            throws Exception {
        return MockMvcBuilders.webAppContextSetup(to)
                .build()
                .perform(MockMvcRequestBuilders.post("/webhooks/orders")
                        .contentType(MediaType.APPLICATION_JSON)
                        .content("{\"id\":\"%s\",\"orderId\":\"42\",\"state\":\"%s\",\"version\":%s}"
                                .formatted(id, state, version)))
                .andReturn()
                .getResponse();
    }

    private static List<String> notified(WebApplicationContext instance) {
        return instance.getBean(Warehouse.class).notices;
    }

    private String state() {
        return instances.database.queryForObject("SELECT state FROM orders WHERE id = '42'", String.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @Import({WebhookController.class, OrderEvents.class, Warehouse.class})
    static class Shop {}

    /** Another service, which knows idempotency keys. */
    static class Warehouse {

        private final List<String> notices = new CopyOnWriteArrayList<>();
        private Runnable beforeNotice = () -> {};

        void prepare(String orderId, String idempotencyKey) {
            beforeNotice.run();
            notices.add(idempotencyKey);
        }
    }

    record OrderEvent(String id, String orderId, String state, long version) {}

    @RestController
    record WebhookController(OrderEvents events) {

        @PostMapping("/webhooks/orders")
        void receive(@RequestBody OrderEvent event) {
            events.receive(event);
        }
    }

    static class OrderEvents {

        private final JdbcTemplate jdbc;
        private final Warehouse warehouse;

        OrderEvents(JdbcTemplate jdbc, Warehouse warehouse) {
            this.jdbc = jdbc;
            this.warehouse = warehouse;
        }

        // sample: recipe-webhook
        @DistributedLock(name = "order", key = "#event.orderId") // the order, not the event
        @Transactional
        public void receive(OrderEvent event) {
            if (isNew(event) && isNewer(event)) {
                warehouse.prepare(event.orderId(), event.id()); // sends the id of the event as idempotency key
            }
        }

        /** A duplicate finds the id. */
        private boolean isNew(OrderEvent event) {
            return jdbc.update("INSERT INTO webhook_event (id) VALUES (?) ON CONFLICT DO NOTHING", event.id()) == 1;
        }

        /** An event that was overtaken finds a larger version. */
        private boolean isNewer(OrderEvent event) {
            int rows = jdbc.update("""
                    INSERT INTO orders AS o (id, state, version) VALUES (?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, version = EXCLUDED.version
                    WHERE o.version < EXCLUDED.version
                    """, event.orderId(), event.state(), event.version());
            return rows == 1;
        }
        // end
    }
}
