package io.syncguard.aop;

import io.syncguard.LockSetupException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * What an expression of a method can name.
 *
 * @param positions the names of the parameters and their positions
 * @param beanClassLoader one of the loaders in which a call may find a class
 */
record MethodParameters(
        Map<String, Integer> positions,
        Method method,
        Class<?> targetClass,
        @Nullable ClassLoader beanClassLoader) {

    Set<String> names() {
        return positions.keySet();
    }

    /** The static type of a parameter; {@code null} if it is known only in the call. */
    @Nullable
    ResolvableType type(int position) {
        ResolvableType type = ResolvableType.forMethodParameter(method, position, targetClass);
        return Members.hasLowerBound(type.getType()) ? null : type;
    }

    /** @throws LockSetupException when no call can find the class */
    void requireClass(String name) {
        boolean found = ClassUtils.resolvePrimitiveClassName(name) != null
                || Stream.of(ClassUtils.getDefaultClassLoader(), beanClassLoader, targetClass.getClassLoader())
                        .filter(Objects::nonNull)
                        .anyMatch(loader -> isIn(loader, name));
        if (!found) {
            throw LockSetupException.invalid(
                    "there is no class '" + name + "'", "Correct the name, with its package unless that is java.lang");
        }
    }

    private static boolean isIn(ClassLoader loader, String name) {
        try {
            return new StandardTypeLocator(loader).findType(name) != null;
        } catch (EvaluationException | LinkageError ex) {
            return false;
        }
    }
}
