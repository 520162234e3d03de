package io.syncguard.interception;

import io.syncguard.LockSetupException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Refuses annotated methods that Spring calls on the object itself, without a proxy, when it creates or destroys the
 * bean. The check comes before these calls. An annotation of the class applies only to its other methods. Thread-safe.
 */
public final class LifecycleMethodCheck implements MergedBeanDefinitionPostProcessor {

    /**
     * Maps the names of annotations, which need not be on the class path, to whether Spring calls the method at the
     * end.
     */
    private static final Map<String, Boolean> AT_THE_END = Map.of(
            "jakarta.annotation.PostConstruct", false,
            "jakarta.annotation.PreDestroy", true,
            "org.springframework.beans.factory.annotation.Autowired", false,
            "jakarta.inject.Inject", false);

    /** Destroy methods that Spring infers from their names. The application may call them, too. */
    private static final List<String> INFERRED = List.of("close", "shutdown");

    private final Class<? extends Annotation> annotation;
    private final String withoutProxy;
    private final List<String> nextSteps;

    /**
     * @param withoutProxy how a method runs if its calls bypass the proxy, for a message
     * @param nextSteps the next steps for a method that Spring calls when it creates the bean
     */
    public LifecycleMethodCheck(Class<? extends Annotation> annotation, String withoutProxy, String... nextSteps) {
        this.annotation = annotation;
        this.withoutProxy = withoutProxy;
        this.nextSteps = List.of(nextSteps);
    }

    @Override
    public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> beanType, String beanName) {
        Class<?> type = ClassUtils.getUserClass(beanType);
        ReflectionUtils.doWithMethods(type, method -> requireNoneOn(method, type));
        if (InitializingBean.class.isAssignableFrom(type)) {
            requireNoneOn(type, false, "afterPropertiesSet");
        }
        if (DisposableBean.class.isAssignableFrom(type)) {
            requireNoneOn(type, true, "destroy");
        }
        requireNoneOn(type, false, definition.getInitMethodNames());
        requireNoneOn(type, true, definition.getDestroyMethodNames());
    }

    private void requireNoneOn(Method method, Class<?> type) {
        for (Annotation each : method.getDeclaredAnnotations()) {
            Boolean atTheEnd = AT_THE_END.get(each.annotationType().getName());
            if (atTheEnd != null) {
                // Spring calls the method that overrides it.
                requireNone(
                        ClassUtils.getMostSpecificMethod(method, type),
                        atTheEnd,
                        "@" + each.annotationType().getSimpleName());
            }
        }
    }

    private void requireNoneOn(Class<?> type, boolean atTheEnd, String @Nullable ... names) {
        for (String name : names == null ? new String[0] : names) {
            Method method = INFERRED.contains(name) ? null : ReflectionUtils.findMethod(type, name);
            if (method != null) {
                requireNone(method, atTheEnd, atTheEnd ? "destroy method" : "init method");
            }
        }
    }

    private void requireNone(Method method, boolean atTheEnd, String reason) {
        if (SoleAnnotation.isOn(method, annotation)) {
            String name = "@" + annotation.getSimpleName();
            List<String> steps = atTheEnd
                    ? List.of("Move " + name + " to a method with @EventListener(ContextClosedEvent.class)")
                    : nextSteps;
            throw LockSetupException.invalid(
                    name + " on " + ClassUtils.getQualifiedMethodName(method)
                            + ", which Spring calls on the object itself (" + reason
                            + "): no proxy sees that call, so it would run " + withoutProxy,
                    steps.toArray(String[]::new));
        }
    }
}
