package io.syncguard.interception;

import io.syncguard.LockSetupException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.context.expression.AnnotatedElementKey;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotation of a method, and parses it once for each method. It looks at the method itself, its interface
 * method and composed annotations; then, for public methods, at the class.
 *
 * <p>The proxy creator asks the pointcut about every method of every bean. So a mistake in an annotation fails the
 * start of the application. Thread-safe.
 *
 * @param <A> the annotation
 * @param <M> the type of a parsed annotation
 */
public final class AnnotatedMethodPointcut<A extends Annotation, M> extends StaticMethodMatcher
        implements Pointcut, ClassFilter {

    /** Parses the annotation of one method. Throws if the annotation has a mistake. */
    @FunctionalInterface
    public interface Parser<A, M> {
        M parse(A annotation, Method method, Class<?> targetClass);
    }

    private final Class<A> annotation;
    private final SoleAnnotation<A> annotations;
    private final String withoutProxy;
    private final Parser<A, M> parser;
    private final Map<AnnotatedElementKey, Optional<M>> found = new ConcurrentHashMap<>();

    /** @param withoutProxy how a method runs if its calls bypass the proxy, for a message */
    public AnnotatedMethodPointcut(Class<A> annotation, String withoutProxy, Parser<A, M> parser) {
        this.annotation = annotation;
        this.annotations = new SoleAnnotation<>(annotation);
        this.withoutProxy = withoutProxy;
        this.parser = parser;
    }

    /** The call with the parsed annotation of its method; {@code null} if the method is not annotated. */
    public @Nullable AnnotatedCall<M> call(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> targetClass =
                target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        // If the target is a proxy itself, the start has checked the class of that proxy.
        M method = find(invocation.getMethod(), target == null ? targetClass : target.getClass());
        return method == null ? null : new AnnotatedCall<>(method, invocation, targetClass);
    }

    /** The parsed annotation of a method; {@code null} if it has none. */
    public @Nullable M find(Method method, Class<?> targetClass) {
        AnnotatedElementKey key = new AnnotatedElementKey(method, targetClass);
        Optional<M> known = found.get(key);
        if (known == null) {
            // Not in computeIfAbsent: parsing may create a bean, and its proxy creator calls this method again.
            known = Optional.ofNullable(parse(method, targetClass));
            found.put(key, known);
        }
        return known.orElse(null);
    }

    /** Returns a pointcut for the methods whose parsed annotation meets the condition. */
    public Pointcut only(Predicate<M> condition) {
        return new ComposablePointcut(this, new StaticMethodMatcher() {
            @Override
            public boolean matches(Method method, Class<?> targetClass) {
                M found = find(method, targetClass);
                return found != null && condition.test(found);
            }
        });
    }

    @Override
    public ClassFilter getClassFilter() {
        return this;
    }

    @Override
    public MethodMatcher getMethodMatcher() {
        return this;
    }

    @Override
    public boolean matches(Class<?> type) {
        if (!isAnywhereIn(type)) {
            return false;
        }
        check(type);
        return true;
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return find(method, targetClass) != null;
    }

    /**
     * Parses all annotations of a bean at the start, so that a mistake fails the start. An interface-based proxy asks
     * about a method only at its first call. Refuses annotated methods whose calls always bypass the proxy.
     */
    private void check(Class<?> beanClass) {
        if (!ClosedClass.hasInterfaceForProxy(beanClass)) {
            requireOpen(beanClass);
        }
        for (Class<?> type : types(beanClass)) {
            for (Method method : methods(type)) {
                requireProxyable(method, beanClass);
                find(method, beanClass);
            }
        }
    }

    /**
     * Refuses a class that can have no subclass, if one of its methods has the annotation. Spring proxies a class by a
     * subclass.
     */
    public void requireOpen(Class<?> beanClass) {
        for (Class<?> type : ClosedClass.isClosed(beanClass) ? types(beanClass) : Set.<Class<?>>of()) {
            for (Method method : methods(type)) {
                if (isProxied(method) && find(method, beanClass) != null) {
                    throw ClosedClass.refusal("@" + annotation.getSimpleName(), method, beanClass);
                }
            }
        }
    }

    private static Set<Class<?>> types(Class<?> beanClass) {
        Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(beanClass));
        if (!Proxy.isProxyClass(beanClass)) {
            // A generated class adds final methods.
            types.add(ClassUtils.getUserClass(beanClass));
        }
        return types;
    }

    /** Sorted, so that of several mistakes the same one is reported at each start: the JVM keeps no order. */
    private static List<Method> methods(Class<?> type) {
        return Stream.of(ReflectionUtils.getUniqueDeclaredMethods(type))
                .sorted(Comparator.comparing(Method::getName).thenComparing(Method::toString))
                .toList();
    }

    private static boolean isProxied(Method method) {
        return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0 && !method.isSynthetic();
    }

    private void requireProxyable(Method method, Class<?> beanClass) {
        int hidden = method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL);
        boolean finalOfClass = hidden == Modifier.FINAL
                && SoleAnnotation.isCoveredByClass(method)
                && isAnnotated(method.getDeclaringClass());
        if (hidden != 0 && !method.isSynthetic() && (isAnnotated(method) || finalOfClass)) {
            throw LockSetupException.invalid(
                    "@" + annotation.getSimpleName() + " on " + ClassUtils.getQualifiedMethodName(method)
                            + ", which is " + Modifier.toString(hidden) + ": no proxy sees its calls, so it would run "
                            + withoutProxy,
                    ClosedClass.inLanguageOf(
                            beanClass, "Make it neither private nor static nor final", "open before the method"),
                    "Move the annotation to the method that calls it");
        }
    }

    /** Most beans do not have the annotation. This check is much faster than a search for it at each method. */
    private boolean isAnywhereIn(@Nullable Class<?> type) {
        return type != null
                && AnnotationUtils.isCandidateClass(type, annotation)
                && (isDirectlyOn(type)
                        || Stream.of(ReflectionUtils.getDeclaredMethods(type)).anyMatch(this::isDirectlyOn)
                        || isAnywhereIn(type.getSuperclass())
                        || Stream.of(type.getInterfaces()).anyMatch(this::isAnywhereIn));
    }

    private boolean isDirectlyOn(AnnotatedElement element) {
        return MergedAnnotations.from(element).isPresent(annotation);
    }

    private boolean isAnnotated(AnnotatedElement element) {
        return SoleAnnotation.isOn(element, annotation);
    }

    private @Nullable M parse(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        if (specific.isSynthetic()) {
            // Kotlin copies the annotation to the synthetic body of a suspending function.
            return null;
        }
        A merged = annotations.find(specific, targetClass);
        return merged == null ? null : parser.parse(merged, sourceMethod(specific, targetClass), targetClass);
    }

    /** Returns the method in source code. For a generated proxy, this is the method of its interface. */
    private static Method sourceMethod(Method specific, Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass)
                ? BridgeMethodResolver.findBridgedMethod(ClassUtils.getInterfaceMethodIfPossible(specific, targetClass))
                : specific;
    }
}
