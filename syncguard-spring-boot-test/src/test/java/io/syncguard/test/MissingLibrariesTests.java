package io.syncguard.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardLeaderAutoConfiguration;
import io.syncguard.test.autoconfigure.TestLocksAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** An application may have Redis and no JDBC, or the other way round, and tests without JUnit and AssertJ. */
class MissingLibrariesTests {

    @Test
    void neither_a_driver_nor_a_test_library_is_needed() {
        new ApplicationContextRunner()
                .withClassLoader(new FilteredClassLoader(
                        "com.zaxxer.hikari",
                        "org.postgresql",
                        "org.springframework.jdbc",
                        "org.springframework.data",
                        "org.springframework.web",
                        "io.lettuce",
                        "org.assertj",
                        "org.junit"))
                .withConfiguration(AutoConfigurations.of(
                        TestLocksAutoConfiguration.class,
                        SyncGuardAutoConfiguration.class,
                        SyncGuardLeaderAutoConfiguration.class))
                .run(application -> {
                    LockHandle lock = application.getBean(LockManager.class).acquire(LockRequest.of("order:42"));
                    application.getBean(LockTestControl.class).endLease("order:42");

                    assertThat(lock.isHeld()).isFalse();
                });
    }
}
