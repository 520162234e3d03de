package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.ObservationRegistry;
import io.syncguard.DistributedLock;
import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.micrometer.LockObservationContext;
import io.syncguard.micrometer.LockObservationConvention;
import io.syncguard.spi.LockBackend;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Listeners and conventions may need what they listen to, whether beans are made at the start or late. */
@Timeout(60)
class LockingListenerTests {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_listener_or_a_convention_may_need_locks_and_elections(boolean lazy) {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(Applications.ours())
                .withBean(LockBackend.class, InMemoryLockBackend::new)
                .withBean(Audit.class)
                .withBean(ObservationRegistry.class, LockingListenerTests::observations)
                .withBean(TenantNames.class)
                .withBean(Orders.class);
        if (lazy) {
            runner = runner.withInitializer(
                    context -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
        }
        runner.run(application -> {
            assertThat(application).hasNotFailed();

            assertThat(application.getBean(Orders.class).submit()).isTrue();

            assertThat(application.getBean(Audit.class).released).containsExactly("audit", "order");
            assertThat(application.getBean(TenantNames.class).asked).isTrue();
        });
    }

    static class Audit implements LockListener, LeaderListener {

        private final LockTemplate locks;
        private final List<String> released = new CopyOnWriteArrayList<>();

        Audit(LockTemplate locks, LeaderElection elections) {
            this.locks = locks;
        }

        @Override
        public void released(LockEvent event) {
            if (event.key().equals("order")) {
                locks.executeWithoutResult("audit", lock -> {});
            }
            released.add(event.key());
        }
    }

    private static ObservationRegistry observations() {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(context -> true);
        return registry;
    }

    static class TenantNames implements LockObservationConvention {

        private final LockTemplate locks;
        private volatile boolean asked;

        TenantNames(LockTemplate locks) {
            this.locks = locks;
        }

        @Override
        public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
            asked = true;
            return KeyValues.of("manager", String.valueOf(locks));
        }
    }

    static class Orders {

        @DistributedLock("order")
        public boolean submit() {
            return LockHandle.current().isPresent();
        }
    }
}
