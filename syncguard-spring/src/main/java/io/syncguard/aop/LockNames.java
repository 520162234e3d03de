package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.interception.AnnotatedMethodPointcut;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/**
 * Finds the lock names of annotated methods. It creates no bean, and leaves mistakes in other attributes to the parser.
 */
public final class LockNames {

    private final StringValueResolver placeholders;
    private final AnnotatedMethodPointcut<DistributedLock, String> methods =
            new AnnotatedMethodPointcut<>(DistributedLock.class, "without a lock", this::nameOf);

    public LockNames(StringValueResolver placeholders) {
        this.placeholders = placeholders;
    }

    /** The lock names of the methods of this type. */
    public Set<String> of(Class<?> type) {
        return new TreeSet<>(MethodIntrospector.selectMethods(
                        type, (MethodIntrospector.MetadataLookup<String>) method -> methods.find(method, type))
                .values());
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
