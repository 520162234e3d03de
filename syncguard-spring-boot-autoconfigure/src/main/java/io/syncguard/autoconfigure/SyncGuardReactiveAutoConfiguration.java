package io.syncguard.autoconfigure;

import io.syncguard.LockManager;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.reactive.ReactiveLockTemplate;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Flux;

/** The template for publishers of Reactor. */
@AutoConfiguration(after = {SyncGuardAutoConfiguration.class, SyncGuardDisabledAutoConfiguration.class})
@ConditionalOnClass(Flux.class)
public final class SyncGuardReactiveAutoConfiguration {

    /** Without the advisor, locks are off and nothing blocks, so no threads are needed. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSingleCandidate(LockManager.class)
    ReactiveLockTemplate syncGuardReactiveLockTemplate(
            LockManager locks, ObjectProvider<DistributedLockAdvisor> advisor) {
        DistributedLockAdvisor annotated = advisor.getIfAvailable();
        return annotated == null
                ? new ReactiveLockTemplate(locks, Runnable::run)
                : new ReactiveLockTemplate(locks, annotated.reactiveThreads());
    }
}
