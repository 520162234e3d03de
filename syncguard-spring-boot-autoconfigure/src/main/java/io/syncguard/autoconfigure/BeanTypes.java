package io.syncguard.autoconfigure;

import io.syncguard.LockManager;
import io.syncguard.LockOperations;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.aop.LockNames;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.redis.RedisLockBackend;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.ClassUtils;

/** The types of the beans of a context and its parents, as far as they are known without creating a bean. */
final class BeanTypes {

    /** Code that requests a lock refers to one of these types. */
    private static final List<String> REQUESTS = Stream.concat(
                    Stream.of(LockRequest.class, LockTemplate.class, LockManager.class, LockOperations.class)
                            .map(Class::getName),
                    Stream.of(
                            "io.syncguard.autoconfigure.PostgresLockManagers",
                            "io.syncguard.reactive.ReactiveLockTemplate",
                            "io.syncguard.integration.SyncGuardLockRegistry",
                            "io.syncguard.shedlock.SyncGuardLockProvider"))
            .map(ClassUtils::convertClassNameToResourcePath)
            .toList();

    /** The jars of the modules that have beans. */
    private static final Set<CodeSource> LIBRARY = Stream.of(
                    LockManager.class,
                    LockNames.class,
                    PostgresLockBackend.class,
                    RedisLockBackend.class,
                    BeanTypes.class)
            .map(type -> type.getProtectionDomain().getCodeSource())
            .filter(Objects::nonNull)
            .collect(Collectors.toUnmodifiableSet());

    private final Set<Class<?>> types = new LinkedHashSet<>();
    private boolean known = true;

    BeanTypes(ConfigurableListableBeanFactory beans) {
        for (String name : beans.getBeanDefinitionNames()) {
            addType(name, beans);
        }
        for (String name : beans.getSingletonNames()) {
            addType(name, beans);
        }
        if (beans.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent) {
            types.addAll(new BeanTypes(parent).types);
        }
    }

    Set<Class<?>> all() {
        return types;
    }

    /** Whether the classes of all beans are known for certain. */
    boolean areKnown() {
        return known;
    }

    /** Whether a bean class outside of the library uses the API of requests. */
    boolean requestLocks() {
        return types.stream()
                .filter(type -> !isOfLibrary(type))
                .flatMap(BeanTypes::withSuperclassesAndOwn)
                .distinct()
                .anyMatch(BeanTypes::namesRequest);
    }

    private void addType(String name, ConfigurableListableBeanFactory beans) {
        try {
            Class<?> type = beans.getType(name, false);
            if (type != null) {
                types.add(ClassUtils.getUserClass(type));
            }
            if (beans.containsSingleton(name)) {
                types.add(ClassUtils.getUserClass(
                        AopProxyUtils.ultimateTargetClass(Objects.requireNonNull(beans.getSingleton(name)))));
            } else {
                known &= type != null && isExact(name, type, beans);
            }
        } catch (RuntimeException | LinkageError ex) {
            known = false;
        }
    }

    /**
     * A factory method or supplier may declare a supertype of the bean that it returns. Those of Spring and of the
     * library return no bean of the application.
     */
    private static boolean isExact(String name, Class<?> type, ConfigurableListableBeanFactory beans) {
        if (Modifier.isFinal(type.getModifiers()) || isOfLibrary(type)) {
            return true;
        }
        if (!(beans.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition)) {
            return false;
        }
        if (definition.getFactoryMethodName() != null) {
            Method factory = definition.getResolvedFactoryMethod();
            return factory != null
                    && (isOfSpring(factory.getDeclaringClass()) || isOfLibrary(factory.getDeclaringClass()));
        }
        return isOfSpring(type)
                || definition.getInstanceSupplier() == null && !Modifier.isAbstract(type.getModifiers());
    }

    private static boolean isOfSpring(Class<?> type) {
        return type.getName().startsWith("org.springframework.");
    }

    private static boolean isOfLibrary(Class<?> type) {
        return type.getName().startsWith("io.syncguard.")
                && isOfLibrary(type.getProtectionDomain().getCodeSource());
    }

    /** Some class loaders know no code source, as in a native image. Then only the name decides. */
    private static boolean isOfLibrary(@Nullable CodeSource source) {
        return source == null ? LIBRARY.isEmpty() : LIBRARY.contains(source);
    }

    /** Returns the class, its superclasses, and the nested classes of each. */
    private static Stream<Class<?>> withSuperclassesAndOwn(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .filter(each -> !isOfSpring(each) && !each.getName().startsWith("java."))
                .flatMap(each -> Stream.concat(
                        Stream.of(each),
                        Stream.<Class<?>>of(each.getNestMembers())
                                .filter(member -> member.getName().startsWith(each.getName() + "$"))));
    }

    /**
     * Whether the class file contains the name of such a type, which it does if the class injects, looks up or calls
     * one.
     */
    private static boolean namesRequest(Class<?> type) {
        try (InputStream file = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (file == null) {
                return false;
            }
            String text = new String(file.readAllBytes(), StandardCharsets.ISO_8859_1);
            return REQUESTS.stream().anyMatch(text::contains);
        } catch (IOException ex) {
            return true;
        }
    }
}
