package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** Slices have only what their annotations name. With locks in memory, they have locks as well. */
class SliceTests {

    @Nested
    @WebMvcTest
    @AutoConfigureTestLocks
    class WebMvc {

        @Test
        void a_controller_answers_contention(@Autowired MockMvcTester mvc, @Autowired LockTestControl control) {
            assertThat(mvc.post().uri("/orders")).hasStatusOk().hasBodyTextEqualTo("order:42");
            control.refuseNextAcquire("order:42");

            assertThat(mvc.post().uri("/orders")).hasStatus(HttpStatus.CONFLICT);
        }
    }

    @Nested
    @JdbcTest
    @AutoConfigureTestLocks
    @Import(Orders.class)
    class Jdbc {

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
}
