package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockAdmin;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.OneLine;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.util.StringUtils;

/**
 * A manager, a template and an admin without locks, so that an application that injects them starts with
 * {@code syncguard.enabled=false}, too. Where {@code syncguard.backend} names a backend, its name is a qualifier.
 */
@AutoConfiguration
@Conditional(SyncGuardDisabledAutoConfiguration.ReadableSwitch.class)
@ConditionalOnBooleanProperty(name = "syncguard.enabled", havingValue = false)
@Import(SyncGuardDisabledAutoConfiguration.QualifiedBeans.class)
public final class SyncGuardDisabledAutoConfiguration {

    private static final Log log = LogFactory.getLog(SyncGuardDisabledAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean
    LockManager syncGuardLockManager() {
        log.info("SyncGuard is disabled by syncguard.enabled=false: LockTemplate and annotated methods run their bodies"
                + " without locks, and each instance leads its elections");
        return LockManager.withoutLocks();
    }

    @Bean
    @ConditionalOnMissingBean
    LockTemplate syncGuardLockTemplate(LockManager lockManager) {
        return new LockTemplate(lockManager);
    }

    @Bean
    @ConditionalOnMissingBean
    LockAdmin syncGuardLockAdmin(ObjectProvider<LockManager> lockManager) {
        return LockManager.routing(lockManager::getObject).admin();
    }

    /**
     * Refuses other values than true and false, with which Spring Boot would configure neither these beans nor the
     * locks.
     */
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static final class ReadableSwitch implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            String enabled = context.getEnvironment().getProperty("syncguard.enabled", "true");
            if (!enabled.equalsIgnoreCase("true") && !enabled.equalsIgnoreCase("false")) {
                throw LockSetupException.invalid(
                        "syncguard.enabled is '" + OneLine.of(enabled) + "', but has to be true or false",
                        "Correct syncguard.enabled");
            }
            return true;
        }
    }

    /** Keeps the script for Flyway, which fails if it does not find a script that it has run before. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HikariDataSource.class, DataSourceUtils.class})
    @Conditional(FlywayChosen.class)
    @EnableConfigurationProperties(SyncGuardProperties.class)
    @Import(DataSourceLocksConfiguration.FlywayConfiguration.class)
    static class FlywayHistoryConfiguration {}

    /** Matches if Flyway makes the tables of a store. */
    static final class FlywayChosen extends AnyNestedCondition {

        FlywayChosen() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty(name = "syncguard.postgres.schema-management", havingValue = "flyway")
        static class InPostgres {}

        @ConditionalOnProperty(name = "syncguard.jdbc.schema-management", havingValue = "flyway")
        static class InTables {}
    }

    /** Registers a manager, a template and an admin for the name of each backend. */
    static final class QualifiedBeans implements ImportBeanDefinitionRegistrar {

        private final Environment environment;

        QualifiedBeans(Environment environment) {
            this.environment = environment;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            for (Backend backend : Backend.namedIn(environment)) {
                String prefix = "syncGuard" + StringUtils.capitalize(backend.name());
                RootBeanDefinition manager = new RootBeanDefinition(LockManager.class);
                manager.setFactoryMethodName("withoutLocks");
                register(registry, backend, prefix + "LockManager", manager);
                RootBeanDefinition template = new RootBeanDefinition(LockTemplate.class);
                template.getConstructorArgumentValues()
                        .addGenericArgumentValue(new RuntimeBeanReference(prefix + "LockManager"));
                register(registry, backend, prefix + "LockTemplate", template);
                RootBeanDefinition admin = new RootBeanDefinition(LockAdmin.class);
                admin.setFactoryBeanName(prefix + "LockManager");
                admin.setFactoryMethodName("admin");
                register(registry, backend, prefix + "LockAdmin", admin);
            }
        }

        private static void register(
                BeanDefinitionRegistry registry, Backend backend, String name, RootBeanDefinition definition) {
            definition.setDefaultCandidate(false);
            definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, backend.name()));
            registry.registerBeanDefinition(name, definition);
        }
    }
}
