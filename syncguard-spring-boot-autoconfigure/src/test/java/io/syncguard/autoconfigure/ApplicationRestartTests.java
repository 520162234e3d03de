package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StoppingApplications.assertAborted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.cache.ContextCache;
import org.springframework.test.context.cache.DefaultContextCache;
import org.springframework.test.context.support.DelegatingSmartContextLoader;

/**
 * Applications that stop and start again, or whose start fails: locks work while an application runs, and nothing is
 * left behind.
 */
class ApplicationRestartTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StoppingApplications applications = new StoppingApplications();

    private static final TestDatabase database = applications.database;

    @Test
    void whatever_stops_before_may_still_lock() {
        applications.runner().withUserConfiguration(LocksWhenItStops.class).run(application -> {
            Last last = application.getBean(Last.class);
            application.close();
            assertThat(last.locked).containsExactly("last");
        });
    }

    @Test
    void a_stopped_application_grants_nothing_and_a_started_one_everything() {
        applications.run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            application.stop();
            assertAborted(() -> locks.acquire(ORDER));
            assertThat(locks.isLocked("order:1")).isFalse();

            application.start();
            assertHeldByHeartbeats(locks);
        });
    }

    @Test
    void a_paused_application_goes_on() {
        applications.run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            locks.acquire(LockRequest.of("order:2"));
            application.pause();
            assertAborted(() -> locks.acquire(ORDER));
            assertThat(database.lockedKeys()).isEmpty();

            application.restart();
            assertHeldByHeartbeats(locks);
        });
    }

    @Test
    @Timeout(60)
    void spring_s_test_framework_pauses_an_application_without_a_wait_for_what_a_test_holds() {
        applications.run(
                application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    LockHandle left = locks.acquire(ORDER);
                    MergedContextConfiguration test = new MergedContextConfiguration(
                            getClass(),
                            new String[0],
                            new Class<?>[] {getClass()},
                            new String[0],
                            new DelegatingSmartContextLoader());
                    DefaultContextCache contexts = new DefaultContextCache(1, ContextCache.PauseMode.ALWAYS);
                    contexts.put(test, same -> application);
                    contexts.registerContextUsage(test, getClass());

                    contexts.unregisterContextUsage(test, getClass());

                    assertThat(left.state()).isEqualTo(LockHandle.State.LOST);
                    assertThat(database.lockedKeys()).isEmpty();
                    application.restart();
                    assertHeldByHeartbeats(locks);
                },
                "syncguard.shutdown-timeout=2m");
    }

    @Test
    void a_start_that_fails_later_leaves_nothing_behind() {
        applications
                .runner()
                .withUserConfiguration(LocksWhenItStops.class, FailsAtItsStart.class)
                .run(application ->
                        assertThat(application).getFailure().rootCause().hasMessage("no start today"));
        assertThat(database.lockedKeys()).isEmpty();
    }

    @Test
    void a_start_that_fails_for_want_of_tables_leaves_nothing_behind() {
        applications
                .runner("syncguard.postgres.schema-management=none", "syncguard.postgres.locks-table=other_locks")
                .run(application -> assertThat(application).hasFailed());
    }

    @Test
    void a_start_that_fails_for_a_wrong_setting_leaves_nothing_behind() {
        applications
                .runner("syncguard.wait-time=-1s")
                .run(application -> assertThat(application).hasFailed());
    }

    private static void assertHeldByHeartbeats(LockManager locks) {
        LockHandle lock = locks.acquire(ORDER.ttl(Duration.ofMillis(1500)));
        await().atMost(Duration.ofSeconds(10)).until(() -> applications.extensions("order:1") > 4);
        assertThat(lock.isHeld()).isTrue();
        assertThat(lock.release()).isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    static class LocksWhenItStops {

        @Bean
        Last last(LockTemplate locks) {
            return new Last(locks);
        }
    }

    static final class Last implements SmartLifecycle {

        private final LockTemplate locks;
        private final List<String> locked = new ArrayList<>();
        private boolean running;

        Last(LockTemplate locks) {
            this.locks = locks;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            locks.executeWithoutResult(LockRequest.of("last"), lock -> locked.addAll(database.lockedKeys()));
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FailsAtItsStart {

        @Bean
        String failing(LockManager locks) {
            locks.acquire(ORDER);
            throw new IllegalStateException("no start today");
        }
    }
}
