package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.interception.AnnotatedMethodPointcut;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.Set;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/**
 * Finds the locks of annotated methods, without their permits. It creates no bean, and leaves mistakes in other
 * attributes to the parser.
 */
public final class LockNames {

    private final StringValueResolver placeholders;
    private final AnnotatedMethodPointcut<DistributedLock, AnnotatedLock> methods =
            new AnnotatedMethodPointcut<>(DistributedLock.class, "without a lock", this::lockOf);

    public LockNames(StringValueResolver placeholders) {
        this.placeholders = placeholders;
    }

    /** The locks of the methods of this type. */
    public Set<AnnotatedLock> of(Class<?> type) {
        return Set.copyOf(MethodIntrospector.selectMethods(
                        type, (MethodIntrospector.MetadataLookup<AnnotatedLock>) method -> methods.find(method, type))
                .values());
    }

    private AnnotatedLock lockOf(DistributedLock annotation, Method method, Class<?> targetClass) {
        boolean shared =
                annotation.mode() == LockMode.SHARED || !annotation.permits().isEmpty();
        return new AnnotatedLock(
                nameOf(annotation, method, targetClass),
                shared ? LockMode.SHARED : LockMode.EXCLUSIVE,
                0,
                resolved(annotation.lockManager()));
    }

    private String resolved(String text) {
        try {
            return Objects.requireNonNullElse(placeholders.resolveStringValue(text), "");
        } catch (IllegalArgumentException ex) {
            return text;
        }
    }

    private String nameOf(DistributedLock annotation, Method method, Class<?> targetClass) {
        String name = annotation.name().isEmpty() ? annotation.value() : annotation.name();
        try {
            String resolved = placeholders.resolveStringValue(name);
            return nameOf(resolved == null || resolved.isEmpty() ? "" : LockLimits.key(resolved), method, targetClass);
        } catch (IllegalArgumentException | LockException ex) {
            return name;
        }
    }

    /**
     * The name of the locks of a method, for meters and settings.
     *
     * @param prefix the name in the annotation; if it is empty, class and method form the name
     */
    static String nameOf(String prefix, Method method, Class<?> targetClass) {
        // The class name of a generated proxy differs between runs.
        Class<?> written = Proxy.isProxyClass(targetClass) ? method.getDeclaringClass() : targetClass;
        return prefix.isEmpty() ? ClassUtils.getShortName(written) + "." + method.getName() : prefix;
    }
}
