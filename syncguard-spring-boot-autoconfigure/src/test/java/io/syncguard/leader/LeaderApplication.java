package io.syncguard.leader;

import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardLeaderAutoConfiguration;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Applications that share one store of locks and take part in the election {@code scheduler}. Each context that runs is
 * one process.
 */
final class LeaderApplication {

    final InMemoryStore store = new InMemoryStore();

    ApplicationContextRunner with(Class<?>... configurations) {
        return on(() -> new InMemoryLockBackend(store), configurations);
    }

    ApplicationContextRunner on(Supplier<LockBackend> backend, Class<?>... configurations) {
        return new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(
                        SyncGuardAutoConfiguration.class,
                        SyncGuardLeaderAutoConfiguration.class,
                        AopAutoConfiguration.class))
                .withBean(LockBackend.class, backend)
                .withPropertyValues("syncguard.leader.elections.scheduler.ttl=30s", "syncguard.shutdown-timeout=10s")
                .withUserConfiguration(configurations);
    }
}
