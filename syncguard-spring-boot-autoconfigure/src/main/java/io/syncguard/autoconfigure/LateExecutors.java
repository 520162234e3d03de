package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import io.syncguard.spi.LockBackend;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.util.ClassUtils;

/**
 * The executors whose tasks go on when all lifecycles have stopped. Spring ends them, and perhaps waits for their
 * tasks, when it destroys the beans, in an order of its own. Thread-safe.
 */
final class LateExecutors {

    private static final List<Class<?>> TYPES = Stream.of(
                    Executor.class.getName(),
                    ExecutorConfigurationSupport.class.getName(),
                    "org.springframework.scheduling.quartz.SchedulerFactoryBean")
            .filter(name -> ClassUtils.isPresent(name, LateExecutors.class.getClassLoader()))
            .<Class<?>>map(name -> ClassUtils.resolveClassName(name, LateExecutors.class.getClassLoader()))
            .toList();

    private final ConfigurableApplicationContext context;

    LateExecutors(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /**
     * Makes Spring end these executors before the engines. Called when the other lifecycles have stopped.
     *
     * @return whether there are such executors; not if the context only stops, and may be started again
     */
    boolean endBeforeEngines() {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        List<String> engines =
                names(beans, List.of(LockEngine.class, TenantEngines.class)).toList();
        List<String> stores = names(beans, List.of(LockBackend.class)).toList();
        List<String> executors = names(beans, context.isClosed() ? TYPES : List.of())
                .filter(name -> isLate(beans.getSingleton(name)))
                .filter(name -> Stream.concat(engines.stream(), stores.stream())
                        .noneMatch(bean -> needs(beans, bean, name, new HashSet<>())))
                .toList();
        engines.forEach(engine -> executors.forEach(executor -> beans.registerDependentBean(engine, executor)));
        return !executors.isEmpty();
    }

    /** An engine whose store needs the executor has to end before it. */
    private static boolean needs(
            ConfigurableListableBeanFactory beans, String bean, String executor, Set<String> visited) {
        return visited.add(bean)
                && Stream.of(beans.getDependenciesForBean(bean))
                        .anyMatch(each -> each.equals(executor) || needs(beans, each, executor, visited));
    }

    /** The beans that exist: a bean that is made now would not be destroyed in order. */
    private static Stream<String> names(ConfigurableListableBeanFactory beans, List<Class<?>> types) {
        return types.stream()
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, false, false)))
                .map(BeanFactoryUtils::transformedBeanName)
                .filter(beans::containsSingleton)
                .distinct();
    }

    /** An executor of Spring runs at this moment only if it has to wait for its tasks, or to accept further ones. */
    private static boolean isLate(@Nullable Object bean) {
        return bean instanceof ExecutorConfigurationSupport executor
                ? executor.isRunning()
                : bean instanceof ExecutorService || bean instanceof AutoCloseable || bean instanceof DisposableBean;
    }
}
