package io.syncguard.autoconfigure;

import io.syncguard.aop.DistributedLockAdvisor;
import java.lang.reflect.AnnotatedElement;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;

/**
 * Warns at the start if requests open a persistence context before they take locks: an entity that was read before a
 * lock is not read again under it.
 */
final class OpenInViewHint implements SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(OpenInViewHint.class);

    private static final String ENTITY_MANAGER_FACTORY = "jakarta.persistence.EntityManagerFactory";

    private static final String ROUTES = "org.springframework.web.servlet.function.RouterFunction";

    /**
     * Classes that bind a persistence context to the thread of a request. Those for Hibernate exist only with Spring
     * Boot 3.
     */
    private static final List<String> OPENERS = List.of(
            "org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor",
            "org.springframework.orm.jpa.support.OpenEntityManagerInViewFilter",
            "org.springframework.orm.hibernate5.support.OpenSessionInViewInterceptor",
            "org.springframework.orm.hibernate5.support.OpenSessionInViewFilter");

    /** Annotations of methods that no thread of a request runs. */
    private static final List<String> OUTSIDE_OF_REQUESTS = List.of(
            "org.springframework.scheduling.annotation.Scheduled",
            "org.springframework.scheduling.annotation.Schedules",
            "org.springframework.scheduling.annotation.Async",
            "org.springframework.context.event.EventListener",
            "org.springframework.messaging.handler.annotation.MessageMapping");

    private final ObjectProvider<DistributedLockAdvisor> locks;
    private final ListableBeanFactory beans;

    OpenInViewHint(ObjectProvider<DistributedLockAdvisor> locks, ListableBeanFactory beans) {
        this.locks = locks;
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Optional<String> locked = lockedMethod();
        if (locked.isPresent() && names(ENTITY_MANAGER_FACTORY).findAny().isPresent() && hasControllers()) {
            opener().ifPresent(opener -> log.warn("Open-in-view is on (bean '" + opener
                    + "'), and requests may call locked methods such as " + locked.get()
                    + ": an entity that a request has read before the lock is not read again under it, so updates"
                    + " may be"
                    + " lost. Turn it off (spring.jpa.open-in-view=false, or remove the bean if it is yours), lock"
                    + " before"
                    + " the first read, or refresh entities under the lock"));
        }
    }

    /** Returns a locked method that requests may call: the first one by name. */
    private Optional<String> lockedMethod() {
        return locks.stream()
                .flatMap(advisor -> advisor.lockedMethods().stream())
                .filter(method -> !isOutside(method) && !isOutside(method.getDeclaringClass()))
                .map(ClassUtils::getQualifiedMethodName)
                .sorted()
                .findFirst();
    }

    private static boolean isOutside(AnnotatedElement element) {
        MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return OUTSIDE_OF_REQUESTS.stream().anyMatch(annotations::isPresent);
    }

    /**
     * Whether the application has controllers. Those of Spring itself do not count: they answer errors and the like.
     */
    private boolean hasControllers() {
        return names(ROUTES).findAny().isPresent()
                || Stream.of(BeanFactoryUtils.beanNamesForAnnotationIncludingAncestors(beans, Controller.class))
                        .map(beans::getType)
                        .anyMatch(type -> type != null && !type.getName().startsWith("org.springframework."));
    }

    private Optional<String> opener() {
        Stream<String> registered = names(FilterRegistrationBean.class)
                .filter(name -> opens(beans.getBean(name, FilterRegistrationBean.class)));
        return Stream.concat(OPENERS.stream().flatMap(this::names), registered).findFirst();
    }

    private static boolean opens(FilterRegistrationBean<?> registration) {
        return registration.isEnabled()
                && OPENERS.stream()
                        .flatMap(OpenInViewHint::type)
                        .anyMatch(opener -> opener.isInstance(registration.getFilter()));
    }

    private Stream<String> names(String type) {
        return type(type).flatMap(this::names);
    }

    private Stream<String> names(Class<?> type) {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false));
    }

    /** Returns nothing if the class is not on the class path. */
    private static Stream<Class<?>> type(String name) {
        ClassLoader classLoader = OpenInViewHint.class.getClassLoader();
        return ClassUtils.isPresent(name, classLoader)
                ? Stream.of(ClassUtils.resolveClassName(name, classLoader))
                : Stream.empty();
    }
}
