package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** The samples of docs/web.md that refuse repeated clicks, run in two instances. */
@Timeout(60)
class RepeatedClickSampleTests {

    /** A click that waited would exceed the timeout of the test. */
    private final RecipeInstances instances = new RecipeInstances(
            Shop.class,
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, total BIGINT NOT NULL, state TEXT NOT NULL)",
            "syncguard.wait-time=5m");

    @BeforeEach
    void order() {
        instances.database.update("INSERT INTO orders VALUES (42, 990, 'NEW')");
    }

    @Test
    void of_twenty_clicks_one_is_processed_and_nineteen_get_409() {
        instances.run((one, two) -> {
            List<Callable<MockHttpServletResponse>> clicks = new ArrayList<>();
            for (WebApplicationContext instance : List.of(one, two)) {
                MockMvc web = web(instance);
                clicks.addAll(Collections.nCopies(10, () -> click(web)));
            }
            ExecutorService clients = Executors.newFixedThreadPool(clicks.size());
            List<Integer> answers = new ArrayList<>();
            for (Future<MockHttpServletResponse> answer : clients.invokeAll(clicks)) {
                answers.add(answer.get().getStatus());
            }
            clients.shutdown();

            assertThat(answers).hasSize(20).containsOnly(200, 409).containsOnlyOnce(200);
            assertThat(charges(one, two)).containsExactly("order:42, 990");
        });
    }

    @Test
    void a_click_during_the_work_and_one_after_it_have_answers_of_their_own() {
        instances.run((one, two) -> {
            LockHandle other = two.getBean(LockManager.class).acquire(LockRequest.of("order", "42"));
            assertThat(click(web(one)).getContentAsString()).contains("IN_PROGRESS");
            other.release();

            assertThat(click(web(one)).getStatus()).isEqualTo(200);
            MockHttpServletResponse again = click(web(two));

            assertThat(again.getStatus()).isEqualTo(409);
            assertThat(again.getContentAsString()).contains("DONE");
        });
    }

    private static MockMvc web(WebApplicationContext instance) {
        return MockMvcBuilders.webAppContextSetup(instance).build();
    }

    private static MockHttpServletResponse click(MockMvc web) throws Exception {
        return web.perform(post("/orders/42/submit")).andReturn().getResponse();
    }

    private static List<String> charges(WebApplicationContext... instances) {
        List<String> charges = new ArrayList<>();
        for (WebApplicationContext instance : instances) {
            charges.addAll(instance.getBean(Provider.class).charges);
        }
        return charges;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @Import({Orders.class, OrderController.class, OrderProblems.class, Provider.class})
    static class Shop {}

    static class Orders {

        private final JdbcTemplate jdbc;
        private final Provider provider;

        Orders(JdbcTemplate jdbc, Provider provider) {
            this.jdbc = jdbc;
            this.provider = provider;
        }

        // sample: repeated-click
        @DistributedLock(name = "order", key = "#orderId", waitTime = "0s") // a second click does not wait
        @Transactional
        public void submit(long orderId) {
            if (jdbc.update("UPDATE orders SET state = 'PAID' WHERE id = ? AND state = 'NEW'", orderId) == 0) {
                throw new OrderIsNotNewException();
            }
            provider.charge("order:" + orderId, total(orderId)); // with an idempotency key
        }
        // end

        private long total(long orderId) {
            return jdbc.queryForObject("SELECT total FROM orders WHERE id = ?", Long.class, orderId);
        }
    }

    @RestController
    record OrderController(Orders orders) {

        @PostMapping("/orders/{id}/submit")
        void submit(@PathVariable("id") long id) {
            orders.submit(id);
        }
    }

    static class OrderIsNotNewException extends RuntimeException {

        private static final long serialVersionUID = 1;
    }

    /** A service of another company. */
    static class Provider {

        private final List<String> charges = Collections.synchronizedList(new ArrayList<>());

        void charge(String idempotencyKey, long cents) {
            charges.add(idempotencyKey + ", " + cents);
        }
    }

    // sample: repeated-click-answers
    @RestControllerAdvice(assignableTypes = OrderController.class)
    @Order(-1) // in front of the answers of the library
    static class OrderProblems {

        record Problem(String code, String message) {}

        @ExceptionHandler
        @ResponseStatus(HttpStatus.CONFLICT)
        Problem isBeingPaid(LockNotAcquiredException refusal) {
            return new Problem("IN_PROGRESS", "This order is being paid.");
        }

        @ExceptionHandler
        @ResponseStatus(HttpStatus.CONFLICT)
        Problem wasPaid(OrderIsNotNewException failure) {
            return new Problem("DONE", "This order was paid before.");
        }
    }
    // end
}
