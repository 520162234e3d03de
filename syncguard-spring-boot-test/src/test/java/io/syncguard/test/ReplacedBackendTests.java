package io.syncguard.test;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.test.OrderApplication.Orders;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Whatever store an application has, its locks are in memory. */
class ReplacedBackendTests {

    @Nested
    @SpringBootTest(properties = "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere")
    @AutoConfigureTestLocks
    class Postgres {

        @Test
        void a_server_that_cannot_be_reached_is_not_needed(@Autowired Orders orders) {
            assertThat(orders.fenceOf("42")).isPositive();
        }
    }

    @Nested
    @SpringBootTest(properties = "syncguard.enabled=false")
    @AutoConfigureTestLocks
    class Disabled {

        @Test
        void the_annotation_decides_and_not_the_property(@Autowired Orders orders) {
            assertThatLock("order:42").isAcquiredDuring(() -> orders.fenceOf("42"));
        }
    }

    @Nested
    @SpringBootTest
    @AutoConfigureTestLocks(enabled = false)
    class WithoutLocks {

        @Test
        void there_are_no_locks_and_no_control(
                @Autowired Orders orders, @Autowired ObjectProvider<LockTestControl> control) throws Exception {
            assertThat(orders.<Boolean>submit("42", () -> LockHandle.current().isPresent()))
                    .isFalse();
            assertThat(orders.fenceOf("42")).isPositive();
            assertThat(control.stream()).isEmpty();
        }
    }

    @Nested
    @SpringBootTest(properties = "syncguard.backend=postgres,redis")
    @AutoConfigureTestLocks
    @Import(Two.Previews.class)
    class Two {

        @Autowired
        private LockTemplate locks;

        @Autowired
        private LockTestControl control;

        @Autowired
        @Qualifier("redis")
        private LockTestControl redis;

        @Test
        void both_have_a_store_and_a_control_under_their_names(
                @Autowired @Qualifier("redis") LockTemplate previews,
                @Autowired @Qualifier("postgres") LockTestControl postgres) {
            assertThat(postgres).isSameAs(control);
            control.holdElsewhere("order:42");

            assertThat(previews.<String, RuntimeException>execute("order:42", lock -> "another store"))
                    .isEqualTo("another store");
            assertThatLock("order:42").isHeld();
            assertThatLock(redis, "order:42").isFree().wasAcquired(1);
        }

        @Test
        void annotations_choose_one_of_them(@Autowired Previews previews) {
            previews.preview();

            assertThatLock(redis, "preview").wasAcquired(1);
            assertThatLock("preview").wasNeverAcquired();
        }

        @Test
        void the_first_that_the_property_names_is_the_primary_one(
                @Autowired @Qualifier("postgres") LockTemplate named) {
            assertThat(locks).isSameAs(named);
        }

        static class Previews {

            @DistributedLock(name = "preview", lockManager = "redis")
            public void preview() {}
        }
    }

    @Nested
    @SpringBootTest
    @AutoConfigureTestLocks
    @Import(Own.Store.class)
    class Own {

        @Test
        void a_store_of_the_application_is_replaced(
                @Autowired LockManager manager, @Autowired LockBackend store, @Autowired LockTestControl control) {
            control.holdElsewhere("order:42");

            assertThat(manager.isLocked("order:42")).isTrue();
            assertThat(store.directory().isLocked("order:42")).isTrue();
            assertThat(Store.made).isFalse();
        }

        @TestConfiguration(proxyBeanMethods = false)
        static class Store {

            private static boolean made;

            @Bean
            LockBackend ownStore() {
                made = true;
                return new InMemoryLockBackend();
            }
        }
    }
}
