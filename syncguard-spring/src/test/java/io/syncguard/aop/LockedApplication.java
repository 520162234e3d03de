package io.syncguard.aop;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Applications that share one store of locks, and another user of the store. Lives until the end of the test in which
 * it is registered.
 */
final class LockedApplication implements AfterEachCallback {

    final InMemoryStore store = new InMemoryStore();

    private final LockEngine somebodyElse = new LockEngine(
            new InMemoryLockBackend(store),
            new EngineSettings(
                    "somebody else",
                    Duration.ofSeconds(30),
                    Duration.ZERO,
                    Duration.ofMillis(1),
                    Duration.ofMillis(1),
                    Duration.ZERO,
                    Duration.ZERO,
                    Map.of()),
            TransactionBoundary.NONE,
            List.of());

    /** Creates an application without Spring Boot. Each context that it runs is one process. */
    ApplicationContextRunner with(Class<?>... configurations) {
        return new ApplicationContextRunner()
                .withBean(LockBackend.class, () -> new InMemoryLockBackend(store))
                // The check of fences belongs into the transactions, whose advisor is registered before.
                .withUserConfiguration(configurations)
                .withUserConfiguration(SpringLocks.class);
    }

    boolean isTaken(String key) {
        return somebodyElse.isLocked(key);
    }

    LockHandle takenBySomebodyElse(String key) {
        return somebodyElse.acquire(LockRequest.of(key));
    }

    LockHandle readBySomebodyElse(String key) {
        return somebodyElse.acquire(LockRequest.of(key).shared());
    }

    /** Returns how often the key has been granted so far. */
    long grants(String key) {
        return store.fence(key);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        somebodyElse.close();
    }
}
