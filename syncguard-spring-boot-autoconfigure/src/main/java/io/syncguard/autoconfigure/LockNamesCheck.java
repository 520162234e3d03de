package io.syncguard.autoconfigure;

import io.syncguard.LockSettings;
import io.syncguard.MessageText;
import io.syncguard.aop.AnnotatedLock;
import io.syncguard.aop.DistributedLockAdvisor;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * Refuses properties of locks and elections that Spring Boot would not read, and warns of others that nothing reads.
 * Warns of names under {@code syncguard.locks} that no annotation of a bean has: code, or a bean of another context,
 * may request a lock of that name.
 */
final class LockNamesCheck implements BeanFactoryPostProcessor, SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(LockNamesCheck.class);

    private final Environment environment;
    private final ObjectProvider<DistributedLockAdvisor> locks;
    private final ObjectProvider<LocksProperties> settings;

    /** Written and read by the thread that starts the application. */
    private Map<String, WrittenSetting> properties = Map.of();

    private @Nullable ConfigurableListableBeanFactory beans;

    LockNamesCheck(
            Environment environment,
            ObjectProvider<DistributedLockAdvisor> locks,
            ObjectProvider<LocksProperties> settings) {
        this.environment = environment;
        this.locks = locks;
        this.settings = settings;
    }

    /** Refuses properties that Spring Boot would not read, before any bean is created. */
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
        beans = beanFactory;
        properties = SettingNames.in(environment, NamedSettings.LOCKS);
        SettingNames.in(environment, NamedSettings.ELECTIONS);
        BeanFactory parent = beanFactory.getParentBeanFactory();
        if (parent == null || !parent.containsBean(SyncGuardAutoConfiguration.NAMES_CHECK)) {
            new UnreadProperties(environment).warn();
        }
    }

    @Override
    public void afterSingletonsInstantiated() {
        Map<String, WrittenSetting> unknown = new TreeMap<>(properties);
        Set<String> known = new TreeSet<>();
        locks.orderedStream()
                .flatMap(each -> each.locks().stream())
                .map(AnnotatedLock::name)
                .forEach(known::add);
        warnOfPermits(known);
        unknown.keySet().removeAll(known);
        if (unknown.isEmpty() || beans == null) {
            return;
        }
        LocksOfTypes.in(beans, bean -> true).forEach(lock -> known.add(lock.name()));
        unknown.keySet().removeAll(known);
        if (environment.getProperty("syncguard.integration.enabled", Boolean.class, false)) {
            unknown.remove(SyncGuardIntegrationAutoConfiguration.REGISTRY);
        }
        // Without annotations, all names are in code.
        if (!known.isEmpty()) {
            unknown.forEach((name, property) -> warn(name, property, known));
        }
    }

    /** Permits are for shared locks. An exclusive one stays exclusive. */
    private void warnOfPermits(Set<String> annotated) {
        Set<String> exclusive = new TreeSet<>(annotated);
        locks.orderedStream().forEach(each -> exclusive.removeAll(each.permits().keySet()));
        settings.ifAvailable(all -> all.settings().forEach((name, own) -> {
            if (own.permits() != null && exclusive.contains(name)) {
                log.warn(LockSettings.property(name) + ".permits is set, but has no effect: @DistributedLock methods of"
                        + " the name '" + name + "' take exclusive locks. Give the annotation permits, or remove the"
                        + " property, unless code requests shared locks of this name");
            }
        }));
    }

    private static void warn(String name, WrittenSetting property, Set<String> known) {
        String meant = property.unspellable(name, known);
        String nextStep = meant != null
                ? "For '" + meant + "', " + property.asJson(meant)
                : MessageText.nextSteps(
                        name, known, "Correct the name", "Remove its settings, or give an annotation this name")[0];
        log.warn(property.text() + " is set, but no @DistributedLock has the name '" + name + "', only "
                + MessageText.listed(known) + ". " + nextStep + ", unless code requests a lock of this name");
    }
}
