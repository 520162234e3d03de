package io.syncguard.aop;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.interception.LifecycleMethodCheck;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.spi.LockBackend;
import io.syncguard.transaction.SpringTransactions;
import io.syncguard.transaction.TransactionManagerPostProcessor;
import java.time.Duration;
import java.util.Map;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.function.SingletonSupplier;

/**
 * Annotated methods on the {@link LockBackend} of the application, in Spring without Spring Boot. The application may
 * declare its {@link CallLimits}.
 */
@Configuration(proxyBeanMethods = false)
@Import(SpringLocks.Proxies.class)
public final class SpringLocks {

    /** Before the advisor of transactions, which is the last one. */
    private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    /** The usual limits with this wait time. */
    public static CallLimits waiting(Duration waitTime) {
        return new CallLimits(waitTime, 100, Duration.ofSeconds(30), Map.of());
    }

    @Bean
    @Fallback
    CallLimits limits() {
        return waiting(Duration.ofMillis(50));
    }

    @Bean
    @Fallback
    LockEngine locks(LockBackend store, CallLimits limits, ObjectProvider<LockListener> listeners) {
        return new LockEngine(
                store,
                new EngineSettings(
                        "application",
                        limits.ttl(),
                        limits.waitTime(),
                        EngineSettings.FIRST_RETRY,
                        EngineSettings.LONGEST_RETRY,
                        Duration.ZERO,
                        Duration.ZERO,
                        limits.locks()),
                new SpringTransactions(store.info().name(), store.pins(), CommitGuard.AUTO),
                listeners.orderedStream().toList());
    }

    @Bean
    @Fallback
    LockTemplate template(LockManager locks) {
        return new LockTemplate(locks);
    }

    @Bean
    ReactiveLockTemplate reactiveTemplate(LockManager locks, DistributedLockAdvisor advisor) {
        return new ReactiveLockTemplate(locks, advisor.reactiveThreads());
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DistributedLockAdvisor lockAdvisor(
            ObjectProvider<LockTemplate> template,
            ObjectProvider<CallLimits> limits,
            ConfigurableListableBeanFactory beans) {
        return new DistributedLockAdvisor(
                SingletonSupplier.of(template::getObject),
                beans,
                SingletonSupplier.of(limits::getObject),
                ORDER,
                () -> 256);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static FenceCheckAdvisor fenceAdvisor(DistributedLockAdvisor locks, ObjectProvider<FenceGuard> guard) {
        return locks.fenceCheckAdvisor(SingletonSupplier.of(() -> guard.getObject()::check));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LifecycleMethodCheck lifecycleMethodCheck() {
        return new LifecycleMethodCheck(
                DistributedLock.class,
                "without a lock",
                "Do the work in a method with @EventListener(ContextRefreshedEvent.class)",
                "Lock within the method, with a LockTemplate");
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TransactionManagerPostProcessor transactionManagers() {
        return new TransactionManagerPostProcessor();
    }

    /** Proxies of classes, or of interfaces with {@code proxy-target-class=false}. */
    static final class Proxies implements ImportBeanDefinitionRegistrar {

        private final Environment environment;

        Proxies(Environment environment) {
            this.environment = environment;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAspectJAnnotationAutoProxyCreatorIfNecessary(registry);
            if (environment.getProperty("proxy-target-class", Boolean.class, true)) {
                AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
            }
        }
    }
}
