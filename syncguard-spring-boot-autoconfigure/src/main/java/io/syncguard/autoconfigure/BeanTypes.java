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

/** The types of the beans of an application and of its parents, as far as they are known without making a bean. */
final class BeanTypes {

    /** Whatever names a lock in code names one of these. */
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

    /** The jar of each module that has beans. */
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

    /** Whether no bean can have another class than is known here. */
    boolean areKnown() {
        return known;
    }

    /** Whether a class of a bean, which is not of the library itself, uses the API of requests. */
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
     * What a method or supplier declares may be a supertype of what it returns; those of Spring and of the library
     * return no bean of the application.
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

    /** Some class loaders know no code source, as in a native image. Then the name alone decides. */
    private static boolean isOfLibrary(@Nullable CodeSource source) {
        return source == null ? LIBRARY.isEmpty() : LIBRARY.contains(source);
    }

    /** The class, its superclasses, and the classes within it. */
    private static Stream<Class<?>> withSuperclassesAndOwn(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .filter(each -> !isOfSpring(each) && !each.getName().startsWith("java."))
                .flatMap(each -> Stream.concat(
                        Stream.of(each),
                        Stream.<Class<?>>of(each.getNestMembers())
                                .filter(member -> member.getName().startsWith(each.getName() + "$"))));
    }

    /** Injected, looked up or called: the name of the type is in the file of the class. */
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
