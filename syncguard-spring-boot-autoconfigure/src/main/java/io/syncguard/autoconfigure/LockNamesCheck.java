package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
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
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.core.NativeDetector;
import org.springframework.core.env.Environment;

/**
 * Compares the names under {@code syncguard.locks} with those of annotations. A name without an annotation fails the
 * start. It is only a warning if code may request the name, or if not all annotations are known.
 */
final class LockNamesCheck implements BeanFactoryPostProcessor, SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(LockNamesCheck.class);

    /** A property of each context that Spring Boot creates for a test. */
    private static final String TEST = "org.springframework.boot.test.context.SpringBootTestContextBootstrapper";

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

    /** Checks the names. Lazy beans do not exist yet, so the types of their definitions count. */
    @Override
    public void afterSingletonsInstantiated() {
        Map<String, LockProperty> unknown = new TreeMap<>(properties);
        Set<String> known = new TreeSet<>();
        locks.orderedStream().forEach(each -> known.addAll(each.lockNames()));
        unknown.keySet().removeAll(known);
        if (unknown.isEmpty() || beans == null) {
            return;
        }
        BeanTypes types = new BeanTypes(beans);
        LockNames names = new LockNames(beans::resolveEmbeddedValue);
        types.all().forEach(type -> known.addAll(names.of(type)));
        unknown.keySet().removeAll(known);
        if (!unknown.isEmpty()) {
            unknown.keySet().removeAll(PackageTypes.lockNames(beans, names));
        }
        if (isOn("syncguard.integration.enabled")) {
            unknown.remove(environment.getProperty("syncguard.integration.name", "integration"));
        }
        if (!unknown.isEmpty()) {
            boolean requested = isOn("syncguard.shedlock.enabled") || types.requestLocks();
            boolean certain = !requested && types.areKnown() && hasAllBeans(beans);
            unknown.forEach((name, property) -> report(name, property, known, requested, certain));
        }
    }

    private void report(String name, LockProperty property, Set<String> known, boolean requested, boolean certain) {
        String problem = property.text() + " is set, but no @DistributedLock has the name '" + name + "'"
                + (known.isEmpty() ? "" : ", only " + known);
        String meant = property.unspellable(name, known);
        String[] nextSteps = meant != null
                ? new String[] {"For '" + meant + "', " + property.asJson(meant), property.inFile(meant)}
                : MessageText.nextSteps(
                        name, known, "Correct the name", "Remove its settings, or give an annotation this name");
        if (isSlice() || known.isEmpty() && !requested) {
            log.debug(problem + ". This context may have only some of the beans");
        } else if (certain) {
            throw LockSetupException.invalid(problem, nextSteps);
        } else {
            log.warn(problem + ". " + nextSteps[0] + ", unless "
                    + (requested ? "code requests a lock of this name" : "a bean that is made later has it"));
        }
    }

    /** Whether this context has all beans. Annotated beans may also be in another context of the same application. */
    private boolean hasAllBeans(ConfigurableListableBeanFactory beans) {
        boolean isOfTest = environment.containsProperty(TEST)
                && beans.getBeanNamesForAnnotation(SpringBootConfiguration.class).length == 0;
        return beans.getParentBeanFactory() == null && !isOfTest && !isOfParent() && !NativeDetector.inNativeImage();
    }

    /** Whether a {@link SpringApplicationBuilder} starts this context as the parent of another one. */
    private static boolean isOfParent() {
        return StackWalker.getInstance()
                        .walk(frames -> frames.filter(frame -> frame.getMethodName()
                                                .equals("run")
                                        && frame.getClassName().equals(SpringApplicationBuilder.class.getName()))
                                .count())
                > 1;
    }

    /** Whether this is a slice for a test, which turns the auto-configuration off. */
    private boolean isSlice() {
        return !environment.getProperty(EnableAutoConfiguration.ENABLED_OVERRIDE_PROPERTY, Boolean.class, true);
    }

    private boolean isOn(String property) {
        return environment.getProperty(property, Boolean.class, false);
    }
}
