package io.syncguard.autoconfigure;

import io.syncguard.MessageText;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.aop.LockNames;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Warns of names under {@code syncguard.locks} that no annotation of a bean has. It is no mistake for certain: code, or
 * a bean of another context, may request a lock of that name.
 */
final class LockNamesCheck implements BeanFactoryPostProcessor, SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(LockNamesCheck.class);

    private final Environment environment;
    private final ObjectProvider<DistributedLockAdvisor> locks;

    /** Written and read by the thread that starts the application. */
    private Map<String, LockProperty> properties = Map.of();

    private @Nullable ConfigurableListableBeanFactory beans;

    LockNamesCheck(Environment environment, ObjectProvider<DistributedLockAdvisor> locks) {
        this.environment = environment;
        this.locks = locks;
    }

    /** Refuses properties that Spring Boot would not read, before any bean is created. */
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        beans = beanFactory;
        properties = LockPropertyNames.in(environment);
    }

    @Override
    public void afterSingletonsInstantiated() {
        Map<String, LockProperty> unknown = new TreeMap<>(properties);
        Set<String> known = new TreeSet<>();
        locks.orderedStream().forEach(each -> known.addAll(each.lockNames()));
        unknown.keySet().removeAll(known);
        if (unknown.isEmpty() || beans == null) {
            return;
        }
        addNamesOfTypes(known, beans);
        unknown.keySet().removeAll(known);
        if (environment.getProperty("syncguard.integration.enabled", Boolean.class, false)) {
            unknown.remove(SyncGuardIntegrationAutoConfiguration.REGISTRY);
        }
        // Without annotations, all names are in code.
        if (!known.isEmpty()) {
            unknown.forEach((name, property) -> warn(name, property, known));
        }
    }

    /** Adds the names of lazy beans and of those of parent contexts. Creates no bean. */
    private static void addNamesOfTypes(Set<String> known, ConfigurableListableBeanFactory beans) {
        LockNames names = new LockNames(beans::resolveEmbeddedValue);
        for (String bean : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Object.class, true, false)) {
            try {
                Class<?> type = beans.getType(bean, false);
                known.addAll(type == null ? Set.of() : names.of(ClassUtils.getUserClass(type)));
            } catch (RuntimeException | LinkageError ex) {
                log.debug("The class of bean '" + bean + "' cannot be read", ex);
            }
        }
    }

    private static void warn(String name, LockProperty property, Set<String> known) {
        String meant = property.unspellable(name, known);
        String nextStep = meant != null
                ? "For '" + meant + "', " + property.asJson(meant)
                : MessageText.nextSteps(
                        name, known, "Correct the name", "Remove its settings, or give an annotation this name")[0];
        log.warn(property.text() + " is set, but no @DistributedLock has the name '" + name + "', only "
                + MessageText.listed(known) + ". " + nextStep + ", unless code requests a lock of this name");
    }
}
