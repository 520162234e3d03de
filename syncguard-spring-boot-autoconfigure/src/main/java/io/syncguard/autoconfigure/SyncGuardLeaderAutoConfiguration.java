package io.syncguard.autoconfigure;

import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.aop.LeaderOnlyAdvisor;
import io.syncguard.aop.LockManagerResolver;
import io.syncguard.interception.LifecycleMethodCheck;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.leader.LeaderSettings;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Configures elections: those in {@code syncguard.leader.elections.*}, and those that the application joins. With
 * {@code syncguard.enabled=false}, each instance leads in all of them, and {@link LeaderOnly} has no effect.
 */
@AutoConfiguration(after = {SyncGuardAutoConfiguration.class, SyncGuardDisabledAutoConfiguration.class})
@EnableConfigurationProperties(SyncGuardProperties.class)
public final class SyncGuardLeaderAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LeaderElection syncGuardLeaderElection(
            LockManager locks, ListableBeanFactory beans, SyncGuardProperties properties, Environment environment) {
        LeaderElection election = new LeaderElection(
                locks, LockEngineFactory.ownerIn(properties, environment), properties.shutdownTimeout());
        LockManagerResolver resolver = new LockManagerResolver(beans);
        properties.leader().elections().forEach((name, leader) -> {
            LeaderSettings settings = leader.settings(name);
            try {
                LockManager named = leader.lockManager() == null
                        ? locks
                        : resolver.manager(leader.lockManager()).get();
                election.define(name, settings, named);
            } catch (LockException ex) {
                throw LockSetupException.at(ElectionProperties.nameOf(name), ex);
            }
        });
        return election;
    }

    /** Leaves out an election of a parent context, which goes on when this one ends and has its own lifecycle. */
    @Bean
    @ConditionalOnBean(value = LeaderElection.class, search = SearchStrategy.CURRENT)
    LeaderLifecycle syncGuardLeaderLifecycle(
            LeaderElection election,
            ObjectProvider<LeaderListener> listeners,
            ApplicationEventPublisher publisher,
            SyncGuardProperties properties) {
        List<String> autoStarted = properties.leader().elections().entrySet().stream()
                .filter(each -> each.getValue().autoStartup())
                .map(Map.Entry::getKey)
                .toList();
        return new LeaderLifecycle(election, listeners, new LeaderEvents(publisher), autoStarted);
    }

    /** Created before all other beans, like the advisor of locks. */
    @Bean
    @ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LeaderOnlyAdvisor syncGuardLeaderOnlyAdvisor(
            ObjectProvider<LeaderElection> election,
            ObjectProvider<SyncGuardProperties> properties,
            ConfigurableListableBeanFactory beans,
            Environment environment) {
        int order =
                environment.getProperty("syncguard.aop.order", Integer.class, SyncGuardProperties.Aop.DEFAULT_ORDER);
        // The check of the leadership needs no I/O, so it comes before a lock of the same method.
        return new LeaderOnlyAdvisor(
                SingletonSupplier.of(election::getObject),
                beans::resolveEmbeddedValue,
                () -> properties.getObject().waitTime(),
                Math.max(order, Integer.MIN_VALUE + 1) - 1);
    }

    /** Static and without dependencies, so that it creates no other bean. */
    @Bean
    @ConditionalOnBooleanProperty(name = "syncguard.enabled", matchIfMissing = true)
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LifecycleMethodCheck syncGuardLeaderLifecycleMethodCheck() {
        return new LifecycleMethodCheck(
                LeaderOnly.class,
                "on all instances",
                "Do the work in a method with @EventListener(LeaderElectedEvent.class)",
                "Do it in a task of LeaderMember.runWhileLeader");
    }
}
