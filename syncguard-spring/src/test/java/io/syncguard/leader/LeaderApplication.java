package io.syncguard.leader;

import io.syncguard.LockManager;
import io.syncguard.aop.CallLimits;
import io.syncguard.aop.LeaderOnlyAdvisor;
import io.syncguard.aop.SpringLocks;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

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
                .withBean(LockBackend.class, backend)
                .withUserConfiguration(SpringLocks.class, Elections.class)
                .withUserConfiguration(configurations);
    }

    /** The election of each process. */
    @Configuration(proxyBeanMethods = false)
    static class Elections {

        @Bean
        LeaderElection election(LockManager locks) {
            LeaderElection election = new LeaderElection(locks, "application", Duration.ofSeconds(1));
            election.define("scheduler", LeaderSettings.of(Duration.ofSeconds(30)), locks);
            return election;
        }

        /** Joins when all beans exist, and steps down before the first of them ends. */
        @Bean
        SmartLifecycle membership(LeaderElection election) {
            return new Membership(election);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static LeaderOnlyAdvisor leaderAdvisor(
                ObjectProvider<LeaderElection> election,
                ObjectProvider<CallLimits> limits,
                ConfigurableListableBeanFactory beans) {
            return new LeaderOnlyAdvisor(
                    SingletonSupplier.of(election::getObject),
                    beans::resolveEmbeddedValue,
                    () -> limits.getObject().waitTime(),
                    0);
        }
    }

    private static final class Membership implements SmartLifecycle {

        private final LeaderElection election;
        private volatile boolean running;

        Membership(LeaderElection election) {
            this.election = election;
        }

        @Override
        public void start() {
            election.start();
            election.join("scheduler");
            running = true;
        }

        @Override
        public void stop() {
            election.stop();
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }
}
