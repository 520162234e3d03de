package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import io.syncguard.testing.PostgresServer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.AutoConfigureTestDatabase;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Slices have only what their annotations name, and locks. */
class SliceTests {

    abstract static class WebMvcContract {

        @Test
        void a_controller_answers_contention(@Autowired MockMvcTester mvc, @Autowired LockTestControl control) {
            assertThat(mvc.post().uri("/orders")).hasStatusOk().hasBodyTextEqualTo("order:42");
            control.refuseNextAcquire("order:42");

            assertThat(mvc.post().uri("/orders")).hasStatus(HttpStatus.CONFLICT);
        }
    }

    @Nested
    @WebMvcTest
    class WebMvc extends WebMvcContract {}

    @Nested
    @WebMvcTest(properties = "syncguard.fencing.enabled=true")
    @AutoConfigureTestLocks
    class WebMvcWithTheAnnotation extends WebMvcContract {}

    /** The slice has no DataSource, no connection to Redis, and no election to lead. */
    @Nested
    @WebMvcTest(
            properties = {
                "syncguard.backend=redis,postgres",
                "syncguard.commit-guard=required",
                "syncguard.fencing.enabled=true",
                "syncguard.leader.elections.settlement.lock-manager=postgres"
            })
    class WebMvcOfAnApplicationWithEverything extends WebMvcContract {}

    @Nested
    @WebMvcTest(properties = {"syncguard.enabled=false", "syncguard.fencing.enabled=true"})
    class WebMvcWithoutLocks {

        @Test
        void a_controller_runs(@Autowired MockMvcTester mvc, @Autowired ObjectProvider<LockTestControl> control) {
            assertThat(mvc.post().uri("/orders")).hasStatusOk();
            assertThat(control.stream()).isEmpty();
        }
    }

    @Import(Orders.class)
    @Transactional
    abstract static class JdbcContract {

        @Test
        void a_lock_inside_the_transaction_of_a_test_is_held_until_its_end(@Autowired Orders orders) throws Exception {
            assertThat(orders.submit("42", () -> "done")).isEqualTo("done");

            assertThatLock("order:42").isHeld();
        }

        @Test
        void so_the_next_test_finds_it_free() {
            assertThatLock("order:42").isFree();
        }
    }

    /** On the embedded database. */
    @Nested
    @JdbcTest(properties = "syncguard.commit-guard=required")
    class Jdbc extends JdbcContract {}

    @Nested
    @JdbcTest
    @AutoConfigureTestLocks
    class JdbcWithTheAnnotation extends JdbcContract {}

    @Nested
    @JdbcTest(
            properties = {
                "syncguard.backend=postgres,redis",
                "syncguard.commit-guard=required",
                "syncguard.fencing.enabled=true"
            })
    class JdbcOfAnApplicationWithEverything extends JdbcContract {}

    @Nested
    @JdbcTest(properties = {"syncguard.backend=redis", "syncguard.commit-guard=required"})
    class JdbcOfAnApplicationOnRedis extends JdbcContract {}

    @Nested
    @JdbcTest
    @AutoConfigureTestDatabase(replace = AutoConfigureTestDatabase.Replace.NONE)
    @Import(Orders.class)
    class JdbcOnPostgres {

        private static final String URL = PostgresServer.newDatabaseUrl();

        @DynamicPropertySource
        static void dataSource(DynamicPropertyRegistry properties) {
            properties.add("spring.datasource.url", () -> URL);
            properties.add("syncguard.commit-guard", () -> "required");
        }

        @Test
        void locks_are_in_its_tables_as_in_the_application(
                @Autowired Orders orders, @Autowired ObjectProvider<LockTestControl> control) throws Exception {
            JdbcTemplate elsewhere = new JdbcTemplate(PostgresServer.dataSource(URL));

            assertThat(orders.submit("42", () -> "done")).isEqualTo("done");

            assertThat(elsewhere.queryForList("SELECT key FROM syncguard_locks", String.class))
                    .containsExactly("order:42");
            assertThat(control.stream()).isEmpty();
        }
    }

    /** The server cannot be reached, and nothing of the test needs it. */
    @Nested
    @JdbcTest(
            properties = {
                "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere",
                "spring.datasource.hikari.connection-timeout=250"
            })
    @AutoConfigureTestDatabase(replace = AutoConfigureTestDatabase.Replace.NONE)
    @Transactional(propagation = Propagation.NOT_SUPPORTED)
    class JdbcWithoutAServer {

        @Test
        void locks_are_in_memory(@Autowired LockTestControl control) {
            assertThat(control.locks()).isEmpty();
        }
    }
}
