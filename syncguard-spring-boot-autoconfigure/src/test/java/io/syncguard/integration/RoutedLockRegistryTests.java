package io.syncguard.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockManager;
import io.syncguard.core.EngineFixture;
import io.syncguard.testing.Tenant;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.integration.support.locks.DistributedLock;

/** A thread that holds a key in one store does not hold it in another. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RoutedLockRegistryTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final String KEY = "integration:42";

    @RegisterExtension
    private final EngineFixture north = new EngineFixture();

    @RegisterExtension
    private final EngineFixture south = new EngineFixture();

    private final SyncGuardLockRegistry registry = new SyncGuardLockRegistry(
            LockManager.routing(() -> {
                if (Tenant.current() == null) {
                    throw new IllegalStateException("no tenant");
                }
                return "south".equals(Tenant.current()) ? south.engine : north.engine;
            }),
            "integration",
            TTL);

    private final DistributedLock lock = registry.obtain("42");

    @ParameterizedTest
    @MethodSource("io.syncguard.integration.SyncGuardLockRegistryTests#everyWay")
    void the_other_store_is_asked(SyncGuardLockRegistryTests.Locking locking) throws Exception {
        Tenant.as("north", () -> locking.on(lock));

        assertThat(Tenant.as("south", () -> locking.on(lock))).isTrue();
        assertThat(Tenant.as("south", () -> locking.on(lock))).isTrue();
        assertThat(north.store.fence(KEY)).isOne();
        assertThat(south.store.fence(KEY)).as("locked again without asking").isOne();

        unlockAs("south");
        assertThat(south.engine.isLocked(KEY)).isTrue();
        unlockAs("south");
        assertThat(south.engine.isLocked(KEY)).isFalse();
        assertThat(north.engine.isLocked(KEY)).isTrue();
        unlockAs("north");
        assertThat(north.engine.isLocked(KEY)).isFalse();
    }

    @Test
    void a_lock_that_others_hold_in_the_other_store_is_not_granted() throws Exception {
        south.holdElsewhere(KEY, TTL);
        Tenant.as("north", () -> lock.tryLock());

        assertThat(Tenant.as("south", () -> lock.tryLock())).isFalse();
    }

    @Test
    void an_unlock_in_another_order_ends_the_lock_of_the_current_store() throws Exception {
        Tenant.as("north", () -> lock.tryLock());
        Tenant.as("south", () -> lock.tryLock());

        unlockAs("north");

        assertThat(north.engine.isLocked(KEY)).isFalse();
        assertThat(south.engine.isLocked(KEY)).isTrue();
        unlockAs("south");
    }

    @Test
    void a_thread_whose_tenant_has_changed_unlocks_what_it_holds() throws Exception {
        Tenant.as("north", () -> lock.tryLock());
        unlockAs("south");
        assertThat(north.engine.isLocked(KEY)).isFalse();

        Tenant.as("south", () -> lock.tryLock());
        registry.renewLock("42");
        lock.unlock();

        assertThat(south.engine.isLocked(KEY)).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    private void unlockAs(String tenant) throws Exception {
        Tenant.as(tenant, () -> {
            lock.unlock();
            return tenant;
        });
    }
}
