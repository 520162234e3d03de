package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The first sample of README.md, and the one that it calls the same in code. */
class FirstSampleTests {

    /** Without properties, and with one for all locks of this name. */
    @ParameterizedTest
    @CsvSource({"syncguard.owner=one, 30", "syncguard.locks.order.ttl=7s, 7"})
    void both_take_the_same_lock(String property, long ttl) {
        new RecipeInstances(Shop.class, "CREATE TABLE payment (order_id TEXT)", property).run((one, two) -> {
            one.getBean(Orders.class).submit("42");
            one.getBean(Orders.class).submitInCode("42");

            assertThat(one.getBean(Payments.class).locks)
                    .containsExactly("order:42 for " + ttl + " s", "order:42 for " + ttl + " s");
            assertThat(one.getBean(Names.class).names).containsExactly("order", "order");
            assertThatThrownBy(() -> one.getBean(Orders.class).submit("42")).isInstanceOf(OrderIsPaidException.class);
        });
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Orders.class, Payments.class, Names.class})
    static class Shop {}

    static class Orders {

        private final LockTemplate locks;
        private final Payments payments;

        Orders(LockTemplate locks, Payments payments) {
            this.locks = locks;
            this.payments = payments;
        }

        // sample: first
        @DistributedLock(name = "order", key = "#orderId", waitTime = "0s") // a second click does not wait
        public Receipt submit(String orderId) {
            if (payments.isPaid(orderId)) {
                throw new OrderIsPaidException(orderId);
            }
            return payments.charge(orderId); // one caller at a time for each order, on all instances
        }
        // end

        Receipt submitInCode(String orderId) {
            // sample: first-in-code
            LockRequest request = LockRequest.of("order", orderId).waitTime(Duration.ZERO);
            return locks.execute(request, lock -> payments.charge(orderId));
            // end
        }
    }

    record Receipt(String orderId) {}

    static class OrderIsPaidException extends RuntimeException {

        private static final long serialVersionUID = 1;

        OrderIsPaidException(String orderId) {
            super(orderId);
        }
    }

    /** Notes under which lock it is called. */
    static class Payments {

        private final List<String> locks = new ArrayList<>();
        private final Set<String> paid = new HashSet<>();

        boolean isPaid(String orderId) {
            return paid.contains(orderId);
        }

        Receipt charge(String orderId) {
            LockHandle lock = LockHandle.current().orElseThrow();
            locks.add(lock.key() + " for " + lock.remaining().plusMillis(999).toSeconds() + " s");
            paid.add(orderId);
            return new Receipt(orderId);
        }
    }

    static class Names implements LockListener {

        private final List<String> names = new ArrayList<>();

        @Override
        public void acquired(LockEvent event) {
            names.add(event.name());
        }
    }
}
