package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.integration.SyncGuardLockRegistry;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.PassThruLockRegistry;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring Integration's lock registry, in an application on a real server. */
class IntegrationAutoConfigurationTests {

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @Test
    void the_registry_locks_at_the_server_under_its_name() {
        enabled().run(application -> {
            Lock lock = application.getBean(LockRegistry.class).obtain("42");

            assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
            assertThat(database.lockedKeys()).containsExactly("integration:42");
            lock.unlock();
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void it_has_the_ttl_of_the_application() {
        enabled().withPropertyValues("syncguard.ttl=11s").run(application -> {
            DistributedLock lock =
                    application.getBean(SyncGuardLockRegistry.class).obtain("43");
            lock.lock();

            assertThat(application.getBean(LockManager.class).admin().lookup("integration:43"))
                    .hasValueSatisfying(info -> assertThat(info.expiresAt())
                            .isEqualTo(info.acquiredAt().plusSeconds(11)));
            lock.unlock();
        });
    }

    @ParameterizedTest
    @CsvSource({"syncguard.locks.jobs.ttl=21s, 21", "syncguard.ttl=11s, 40"})
    void a_renewal_has_the_ttl_of_the_setting(String property, long seconds) {
        enabled().withPropertyValues(property).run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            SyncGuardLockRegistry registry = new SyncGuardLockRegistry(locks, "jobs", Duration.ofSeconds(20));
            registry.obtain("1").lock();
            registry.renewLock("1", Duration.ofSeconds(40));
            assertThat(ttl(locks, "jobs:1")).isBetween(Duration.ofSeconds(seconds), Duration.ofSeconds(seconds + 9));

            registry.obtain("1").unlock();
            assertThat(locks.isLocked("jobs:1")).isFalse();
        });
    }

    /** {@code Lock.lock()} waits until it has the lock, and {@code tryLock} as long as it is told. */
    @Test
    void it_has_the_settings_of_its_name_and_waits_as_its_interface_says() throws Exception {
        enabled()
                .withPropertyValues("syncguard.locks.jobs.ttl=21s", "syncguard.locks.jobs.wait-time=1h")
                .run(context -> {
                    LockManager locks = context.getBean(LockManager.class);
                    SyncGuardLockRegistry registry = new SyncGuardLockRegistry(locks, "jobs", Duration.ofSeconds(20));
                    registry.obtain("1").lock();
                    assertThat(ttl(locks, "jobs:1")).isEqualTo(Duration.ofSeconds(21));

                    CompletableFuture.supplyAsync(() -> locks.acquire(LockRequest.of("jobs:2")))
                            .get();
                    assertThat(registry.obtain("2").tryLock(20, TimeUnit.MILLISECONDS))
                            .isFalse();
                });
    }

    /** Its locks are exclusive. */
    @Test
    void permits_of_its_name_change_nothing() {
        enabled().withPropertyValues("syncguard.locks.integration.permits=5").run(application -> {
            Lock lock = application.getBean(LockRegistry.class).obtain("46");
            lock.lock();

            assertThat(CompletableFuture.supplyAsync(lock::tryLock).get()).isFalse();
            lock.unlock();
        });
    }

    @Test
    void an_unlock_inside_a_transaction_waits_for_its_end() {
        enabled().run(application -> {
            Lock lock = application.getBean(LockRegistry.class).obtain("44");
            inTransaction(application, () -> {
                lock.lock();
                lock.unlock();
                assertThat(database.lockedKeys()).containsExactly("integration:44");
                lock.lock();
                lock.unlock();
                assertThat(database.lockedKeys()).containsExactly("integration:44");
            });

            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_that_ended_with_a_transaction_is_not_unlocked_silently() {
        enabled().run(application -> {
            Lock lock = application.getBean(LockRegistry.class).obtain("45");
            inTransaction(application, () -> {
                lock.lock();
                lock.unlock();
                lock.lock();
            });

            assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
        });
    }

    @Test
    void without_the_property_there_is_no_registry() {
        Applications.on(database.url())
                .run(application -> assertThat(application).doesNotHaveBean(LockRegistry.class));
    }

    @Test
    void a_registry_of_the_application_stays_beside_ours() {
        enabled()
                .withBean("own", PassThruLockRegistry.class)
                .run(application -> assertThat(application.getBeansOfType(LockRegistry.class))
                        .containsOnlyKeys("own", "syncGuardLockRegistry"));
    }

    @Test
    void without_locks_the_threads_of_the_process_still_exclude_each_other() {
        enabled()
                .withPropertyValues("syncguard.enabled=false")
                .run(application ->
                        assertThat(application).getBean(LockRegistry.class).isInstanceOf(DefaultLockRegistry.class));
        enabled()
                .withPropertyValues("syncguard.enabled=false")
                .withBean("own", PassThruLockRegistry.class)
                .run(application -> assertThat(application).hasSingleBean(LockRegistry.class));
    }

    private static Duration ttl(LockManager locks, String key) {
        return locks.admin()
                .lookup(key)
                .map(info -> Duration.between(info.acquiredAt(), info.expiresAt()))
                .orElseThrow();
    }

    private static ApplicationContextRunner enabled() {
        return Applications.on(database.url())
                .withPropertyValues("syncguard.integration.enabled=true", "syncguard.shutdown-timeout=0s");
    }

    private static void inTransaction(ApplicationContext application, Runnable work) {
        new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
                .executeWithoutResult(transaction -> work.run());
    }
}
