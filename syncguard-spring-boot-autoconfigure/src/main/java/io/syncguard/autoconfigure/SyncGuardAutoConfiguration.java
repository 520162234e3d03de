package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.LockAdmin;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.actuate.LockHealth;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.aop.FenceCheckAdvisor;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.interception.LifecycleMethodCheck;
import io.syncguard.spi.LockBackend;
import io.syncguard.transaction.TransactionManagerPostProcessor;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Configures the lock manager, the template and the annotation on the configured backend, and a second manager and
 * template if there are two backends.
 */
@AutoConfiguration(
        after = {SyncGuardMetricsAutoConfiguration.class, SyncGuardObservationAutoConfiguration.class},
        // If advisors have the same order, the first registered one is outside, and the advisor for transactions has
        // to be that one.
        afterName = {
            "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
            "org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
@EnableConfigurationProperties({SyncGuardProperties.class, LocksProperties.class})
@Import(SyncGuardAutoConfiguration.ProxyCreatorRegistrar.class)
public final class SyncGuardAutoConfiguration {

    /** Names of beans, which no application uses for beans of its own. */
    static final String MANAGER = "syncGuardLockManager";

    static final String TEMPLATE = "syncGuardLockTemplate";

    static final String ADMIN = "syncGuardLockAdmin";

    static final String NAMES_CHECK = "syncGuardLockNamesCheck";

    /** Names of the beans of the second of two backends. */
    static final String SECOND_MANAGER = "syncGuardSecondLockManager";

    static final String SECOND_TEMPLATE = "syncGuardSecondLockTemplate";

    static final String SECOND_ADMIN = "syncGuardSecondLockAdmin";

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static WrittenValues syncGuardWrittenValues(Environment environment) {
        return new WrittenValues(environment);
    }

    @Bean
    LockListeners syncGuardLockListeners(ObjectProvider<LockListener> listeners, ListableBeanFactory beans) {
        return new LockListeners(listeners, beans);
    }

    @Bean
    LockEngineFactory syncGuardLockEngineFactory(
            SyncGuardProperties properties,
            LocksProperties locks,
            LockListeners listeners,
            ObjectProvider<LockObserver> observer,
            ObjectProvider<TransactionBoundary> transactions,
            Environment environment) {
        return new LockEngineFactory(properties, locks, listeners, observer, transactions, environment);
    }

    @Bean(MANAGER)
    @ConditionalOnMissingBean(LockManager.class)
    LockEngine syncGuardLockManager(
            ObjectProvider<LockBackend> backend, LockEngineFactory engines, Environment environment) {
        return engines.engineOn(backend.getIfAvailable(() -> {
            throw LockStores.none(Backend.namedIn(environment));
        }));
    }

    @Bean(TEMPLATE)
    @ConditionalOnMissingBean
    LockTemplate syncGuardLockTemplate(LockManager lockManager) {
        return new LockTemplate(lockManager);
    }

    /** Created also for a manager of the application, which may route or be one of several. */
    @Bean(ADMIN)
    @ConditionalOnMissingBean
    LockAdmin syncGuardLockAdmin(ObjectProvider<LockManager> lockManager) {
        return LockManager.routing(lockManager::getObject).admin();
    }

    @Bean(name = SECOND_MANAGER, defaultCandidate = false)
    @Conditional(TwoBackends.class)
    LockEngine syncGuardSecondLockManager(BeanFactory beans, LockEngineFactory engines, Environment environment) {
        Backend second = Backend.namedIn(environment).get(1);
        return engines.engineOn(beans.getBean(second.bean(), LockBackend.class));
    }

    @Bean(name = SECOND_TEMPLATE, defaultCandidate = false)
    @ConditionalOnBean(name = SECOND_MANAGER, search = SearchStrategy.CURRENT)
    LockTemplate syncGuardSecondLockTemplate(BeanFactory beans) {
        return new LockTemplate(beans.getBean(SECOND_MANAGER, LockManager.class));
    }

    @Bean(name = SECOND_ADMIN, defaultCandidate = false)
    @ConditionalOnBean(name = SECOND_MANAGER, search = SearchStrategy.CURRENT)
    LockAdmin syncGuardSecondLockAdmin(BeanFactory beans) {
        return beans.getBean(SECOND_MANAGER, LockManager.class).admin();
    }

    @Bean
    LockHealth syncGuardLockHealth(ListableBeanFactory beans) {
        return new LockHealth(LockEngines.of(beans));
    }

    @Bean
    static BackgroundBeans syncGuardBackgroundBeans() {
        return new BackgroundBeans();
    }

    @Bean
    static BackendQualifierPostProcessor syncGuardBackendQualifiers(Environment environment) {
        return new BackendQualifierPostProcessor(Backend.namedIn(environment));
    }

    @Bean
    LockLifecycle syncGuardLockLifecycle(ListableBeanFactory beans, ConfigurableApplicationContext context) {
        return new LockLifecycle(() -> engines(beans), new LateExecutors(context)::endBeforeEngines, context::isClosed);
    }

    @Bean
    WaiterLifecycle syncGuardWaiterLifecycle(ListableBeanFactory beans, ApplicationContext context) {
        return new WaiterLifecycle(() -> engines(beans), context);
    }

    /** Created before all other beans: it must not create any of them, not even the properties. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DistributedLockAdvisor syncGuardDistributedLockAdvisor(
            ObjectProvider<LockTemplate> template,
            ObjectProvider<SyncGuardProperties> properties,
            ObjectProvider<LocksProperties> locks,
            ConfigurableListableBeanFactory beans,
            Environment environment) {
        return new DistributedLockAdvisor(
                SingletonSupplier.of(template::getObject),
                beans,
                SingletonSupplier.of(() -> properties.getObject().callLimits(locks.getObject())),
                environment.getProperty("syncguard.aop.order", Integer.class, SyncGuardProperties.Aop.DEFAULT_ORDER),
                () -> properties.getObject().reactive().maxWaiting());
    }

    /**
     * Created before all other beans, so that a property that Spring Boot would not read fails the start before any.
     */
    @Bean(NAMES_CHECK)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockNamesCheck syncGuardLockNamesCheck(
            Environment environment,
            ObjectProvider<DistributedLockAdvisor> locks,
            ObjectProvider<LocksProperties> settings) {
        return new LockNamesCheck(environment, locks, settings);
    }

    /** Created before all other beans, like the advisor of the locks. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static FenceCheckAdvisor syncGuardFenceCheckAdvisor(
            DistributedLockAdvisor locks, ObjectProvider<FenceGuard> guard) {
        return locks.fenceCheckAdvisor(SingletonSupplier.of(() -> guard.getIfAvailable(() -> {
            throw LockSetupException.invalid(
                    "it needs a FenceGuard, and there is none",
                    "Set syncguard.fencing.enabled=true",
                    "Declare a FenceGuard bean");
        })::check));
    }

    /** Static and without dependencies, so that it creates no other bean. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LifecycleMethodCheck syncGuardLifecycleMethodCheck() {
        return new LifecycleMethodCheck(
                DistributedLock.class,
                "without a lock",
                "Do the work in an ApplicationRunner, or in a method with @EventListener(ApplicationReadyEvent.class)",
                "Lock within the method, with a LockTemplate");
    }

    /** Static and without dependencies, so that it creates no other bean. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    @ConditionalOnClass(ConfigurableTransactionManager.class)
    static TransactionManagerPostProcessor syncGuardTransactionManagerPostProcessor() {
        return new TransactionManagerPostProcessor();
    }

    /** Leaves out the engines of a parent context, which outlives this one. An ObjectProvider would find them, too. */
    private static List<LockEngine> engines(ListableBeanFactory beans) {
        return Stream.concat(
                        beans.getBeansOfType(LockEngine.class).values().stream(),
                        beans.getBeansOfType(TenantEngines.class).values().stream()
                                .flatMap(each -> each.engines().values().stream()))
                .toList();
    }

    /** Matches if the property names two stores of this context. */
    static final class TwoBackends implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            List<Backend> named = Backend.namedIn(context.getEnvironment());
            return named.size() == 2
                    && named.stream().allMatch(backend -> context.getRegistry().containsBeanDefinition(backend.bean()));
        }
    }

    /** Proxies annotated beans also if {@code spring.aop.auto} is off: a lock must not vanish silently. */
    static class ProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
