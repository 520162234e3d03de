package io.syncguard.compatibility;

import static io.syncguard.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockOperations;
import io.syncguard.test.LockTestControl;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

/** The tests of an application, without a server. */
@SpringBootTest(classes = InMemoryLocksTests.Nothing.class)
@AutoConfigureTestLocks
class InMemoryLocksTests {

    @Test
    void locks_are_in_memory(@Autowired LockOperations locks) {
        locks.execute("order", lock -> {
            assertThatLock("order").isHeldByCurrentThread();
            return null;
        });

        assertThatLock("order").isFree();
    }

    @Nested
    @SpringBootTest(classes = Nothing.class)
    @AutoConfigureTestLocks(enabled = false)
    class WithoutLocks {

        @Test
        void there_is_no_store(@Autowired ObjectProvider<LockTestControl> control) {
            assertThat(control.stream()).isEmpty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Nothing {}
}
