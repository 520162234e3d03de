package io.syncguard.interception;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.context.expression.AnnotatedElementKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotation of a method and has it parsed, once for each method: on the method itself, an interface method
 * or a composed annotation, else on its class for each public method.
 *
 * <p>As a pointcut it is asked by the proxy creator about every method of every bean, so it is also where a mistake
 * ends the start of the application. Threads may share it.
 *
 * @param <A> the annotation
 * @param <M> what it is parsed into
 */
public final class AnnotatedMethodPointcut<A extends Annotation, M> extends StaticMethodMatcher
        implements Pointcut, ClassFilter {

    /** Parses the annotation of one method. Throws when there is a mistake in it. */
    @FunctionalInterface
    public interface Parser<A, M> {
        M parse(A annotation, Method method, Class<?> targetClass);
    }

    private final Class<A> annotation;
    private final String withoutProxy;
    private final Parser<A, M> parser;
    private final Map<AnnotatedElementKey, Optional<M>> found = new ConcurrentHashMap<>();

    /** @param withoutProxy how a method would run of which no proxy sees the calls, for a message */
    public AnnotatedMethodPointcut(Class<A> annotation, String withoutProxy, Parser<A, M> parser) {
        this.annotation = annotation;
        this.withoutProxy = withoutProxy;
        this.parser = parser;
    }

    /** The call with what the annotation of its method says; {@code null} for a method that is not annotated. */
    public @Nullable AnnotatedCall<M> call(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> targetClass =
                target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        M method = find(invocation.getMethod(), targetClass);
        return method == null ? null : new AnnotatedCall<>(method, invocation, targetClass);
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
        if (!AnnotationUtils.isCandidateClass(type, annotation)) {
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
     * Parses all annotations of a bean now, while a mistake still ends the start: a proxy of interfaces asks about a
     * method at its first call only. Refuses those where no proxy could ever see the call: it would look guarded and
     * not be.
     */
    private void check(Class<?> beanClass) {
        Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(beanClass));
        if (!Proxy.isProxyClass(beanClass)) {
            // A class that was generated has final methods of its own.
            types.add(ClassUtils.getUserClass(beanClass));
        }
        for (Class<?> type : types) {
            for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
                requireProxyable(method);
                find(method, beanClass);
            }
        }
    }

    private void requireProxyable(Method method) {
        int hidden = method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL);
        boolean finalOfClass =
                hidden == Modifier.FINAL && isCoveredByClass(method) && isAnnotated(method.getDeclaringClass());
        if (hidden != 0 && (isAnnotated(method) || finalOfClass)) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "@" + annotation.getSimpleName() + " on " + ClassUtils.getQualifiedMethodName(method)
                            + ", which is " + Modifier.toString(hidden) + ": no proxy sees its calls, so it would run "
                            + withoutProxy);
        }
    }

    private boolean isAnnotated(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, annotation);
    }

    private @Nullable M find(Method method, Class<?> targetClass) {
        AnnotatedElementKey key = new AnnotatedElementKey(method, targetClass);
        Optional<M> known = found.get(key);
        if (known == null) {
            // Not inside of the map: parsing may make a bean, whose proxying asks here in turn.
            known = Optional.ofNullable(parse(method, targetClass));
            found.put(key, known);
        }
        return known.orElse(null);
    }

    private @Nullable M parse(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        A merged = annotation(specific);
        if (merged == null) {
            // A superclass that does not know the interface may implement its method.
            merged = annotation(ClassUtils.getInterfaceMethodIfPossible(specific, targetClass));
        }
        return merged == null ? null : parser.parse(merged, specific, targetClass);
    }

    private @Nullable A annotation(Method method) {
        A merged = AnnotatedElementUtils.findMergedAnnotation(method, annotation);
        return merged == null && isCoveredByClass(method)
                ? AnnotatedElementUtils.findMergedAnnotation(method.getDeclaringClass(), annotation)
                : merged;
    }

    private static boolean isCoveredByClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && ClassUtils.isUserLevelMethod(method)
                && !ReflectionUtils.isObjectMethod(method);
    }
}
