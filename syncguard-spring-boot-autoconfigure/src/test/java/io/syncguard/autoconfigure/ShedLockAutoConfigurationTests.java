package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.OnContention;
import io.syncguard.shedlock.SyncGuardLockProvider;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Methods with ShedLock's annotation, in an application on a real server. */
class ShedLockAutoConfigurationTests {

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @Test
    void an_annotated_method_runs_under_our_lock() {
        enabled().run(application -> {
            assertThat(application.getBean(Jobs.class).report()).contains("report");
            assertThat(application.getBean(LockManager.class).isLocked("report"))
                    .isFalse();
        });
    }

    @Test
    void it_does_not_run_while_somebody_else_has_the_lock() {
        enabled().run(application -> {
            application.getBean(LockManager.class).acquire(LockRequest.of("report"));

            assertThat(application.getBean(Jobs.class).report()).isEmpty();
        });
    }

    /** Its locks are exclusive. */
    @Test
    void permits_of_its_name_change_nothing() {
        enabled().withPropertyValues("syncguard.locks.report.permits=5").run(application -> {
            application
                    .getBean(LockManager.class)
                    .acquire(LockRequest.of("report").permits(5));

            assertThat(application.getBean(Jobs.class).report()).isEmpty();
        });
    }

    @Test
    void it_has_the_settings_of_the_name_of_its_job() {
        enabled().withPropertyValues("syncguard.locks.report.ttl=21s").run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            context.getBean(LockProvider.class)
                    .lock(new LockConfiguration(Instant.now(), "report", Duration.ofSeconds(20), Duration.ZERO))
                    .orElseThrow();
            assertThat(ttl(locks, "report")).isEqualTo(Duration.ofSeconds(21));
        });
    }

    @ParameterizedTest
    @CsvSource({"syncguard.locks.report.ttl=21s, 21", "syncguard.ttl=11s, 40"})
    void an_extension_has_the_ttl_of_the_setting(String property, long seconds) {
        enabled().withPropertyValues(property).run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            context.getBean(LockProvider.class)
                    .lock(new LockConfiguration(Instant.now(), "report", Duration.ofSeconds(20), Duration.ZERO))
                    .orElseThrow()
                    .extend(Duration.ofSeconds(40), Duration.ZERO)
                    .orElseThrow();
            assertThat(ttl(locks, "report")).isBetween(Duration.ofSeconds(seconds), Duration.ofSeconds(seconds + 9));
        });
    }

    @Test
    void its_times_are_those_of_the_lease() {
        enabled().run(application -> {
            LockManager locks = application.getBean(LockManager.class);

            assertThat(application.getBean(Jobs.class).kept(locks))
                    .hasValueSatisfying(
                            ttl -> assertThat(ttl).isBetween(Duration.ofMinutes(20), Duration.ofMinutes(21)));
            assertThat(locks.admin().lookup("kept"))
                    .hasValueSatisfying(kept -> assertThat(Duration.between(kept.acquiredAt(), kept.expiresAt()))
                            .as("after its end")
                            .isBetween(Duration.ofMinutes(9), Duration.ofMinutes(11)));
        });
    }

    @Test
    void inside_a_transaction_the_lock_ends_with_it() {
        enabled().run(application -> {
            TransactionTemplate transactions =
                    new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            transactions.executeWithoutResult(transaction -> {
                application.getBean(Jobs.class).report();
                assertThat(database.lockedKeys()).contains("report");
            });

            assertThat(database.lockedKeys()).doesNotContain("report");
        });
    }

    /** Its advisor is inside of ours, and joins the lock. */
    @Test
    void a_method_with_both_annotations_runs_under_one_lock() {
        enabled()
                .run(application ->
                        assertThat(application.getBean(Jobs.class).both()).contains("report"));
    }

    @Test
    void without_the_property_there_is_no_provider() {
        Applications.on(database.url())
                .run(application -> assertThat(application).doesNotHaveBean(LockProvider.class));
    }

    @Test
    void without_shedlock_there_is_no_provider() {
        Applications.on(database.url())
                .withPropertyValues("syncguard.shedlock.enabled=true", "syncguard.integration.enabled=true")
                .withClassLoader(new FilteredClassLoader("net.javacrumbs.shedlock", "org.springframework.integration"))
                .run(application -> assertThat(application)
                        .hasNotFailed()
                        .doesNotHaveBean("syncGuardLockProvider")
                        .doesNotHaveBean("syncGuardLockRegistry"));
    }

    @Test
    void beside_another_provider_shedlock_asks_which_to_use() {
        enabled().withUserConfiguration(OwnProvider.class).run(application -> {
            assertThat(application.getBeansOfType(LockProvider.class))
                    .containsOnlyKeys("syncGuardLockProvider", "ownProvider");
            Jobs jobs = application.getBean(Jobs.class);
            assertThatExceptionOfType(NoUniqueBeanDefinitionException.class)
                    .isThrownBy(jobs::report)
                    .withMessageContaining("syncGuardLockProvider");
        });
    }

    @Test
    void a_provider_of_ours_with_another_manager_stays_the_only_one() {
        enabled()
                .withBean(
                        "second",
                        SyncGuardLockProvider.class,
                        () -> new SyncGuardLockProvider(LockManager.withoutLocks()))
                .run(application -> assertThat(application).hasSingleBean(LockProvider.class));
    }

    @Test
    void without_locks_the_methods_run_unlocked() {
        enabled()
                .withPropertyValues("syncguard.enabled=false")
                .run(application ->
                        assertThat(application.getBean(Jobs.class).report()).isPresent());
    }

    @Test
    void the_lock_is_needed() {
        assertThatIllegalStateException().isThrownBy(() -> new Jobs().report());
    }

    private static Duration ttl(LockManager locks, String key) {
        return locks.admin()
                .lookup(key)
                .map(info -> Duration.between(info.acquiredAt(), info.expiresAt()))
                .orElseThrow();
    }

    private static ApplicationContextRunner enabled() {
        return Applications.on(database.url())
                .withUserConfiguration(Scheduling.class)
                .withPropertyValues("syncguard.shedlock.enabled=true", "syncguard.shutdown-timeout=0s");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Scheduling {

        @Bean
        Jobs jobs() {
            return new Jobs();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnProvider {

        @Bean
        LockProvider ownProvider() {
            return configuration -> Optional.empty();
        }
    }

    static class Jobs {

        @SchedulerLock(name = "report")
        public Optional<String> report() {
            LockAssert.assertLocked();
            return database.lockedKeys().stream().findFirst().or(() -> Optional.of("not locked"));
        }

        @SchedulerLock(name = "report")
        @DistributedLock(name = "report", onContention = OnContention.SKIP)
        public Optional<String> both() {
            return report();
        }

        @SchedulerLock(name = "kept", lockAtLeastFor = "5m")
        public Optional<Duration> kept(LockManager locks) {
            LockExtender.extendActiveLock(Duration.ofMinutes(20), Duration.ofMinutes(10));
            return locks.admin().lookup("kept").map(info -> Duration.between(info.acquiredAt(), info.expiresAt()));
        }
    }
}
