package io.syncguard.interception;

import io.syncguard.LockSetupException;
import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.KotlinReflectionParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** What Kotlin says about the result of its functions. */
final class KotlinFunction {

    private static final String FLOW = "kotlinx.coroutines.flow.Flow";

    private static final String LIBRARY = "org.jetbrains.kotlinx:kotlinx-coroutines-reactor";

    private static final boolean HAS_LIBRARY =
            ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", KotlinFunction.class.getClassLoader());

    private KotlinFunction() {}

    /** That of a suspending function is the one that it has in Kotlin. */
    static ResolvableType resultType(Method method, Class<?> targetClass) {
        return KotlinDetector.isSuspendingFunction(method)
                ? ResolvableType.forType(
                        new MethodParameter(method, -1).getGenericParameterType(),
                        ResolvableType.forClass(targetClass).as(method.getDeclaringClass()))
                : ResolvableType.forMethodReturnType(method, targetClass);
    }

    static boolean isFlow(Class<?> type) {
        return type.getName().equals(FLOW);
    }

    /**
     * Whether the result is {@code T} rather than {@code T?}. That of a type parameter depends on its argument, which
     * nobody knows.
     *
     * @param ofTypeParameter the answer for that
     */
    static boolean isNeverNull(Method method, boolean ofTypeParameter) {
        if (!isFunction(method)) {
            return false;
        }
        MethodParameter result = new MethodParameter(method, -1);
        return result.getGenericParameterType() instanceof TypeVariable
                ? ofTypeParameter
                : !result.isOptional() && !isUnit(result.getParameterType());
    }

    /** @throws LockSetupException when Spring cannot convert the result to a publisher */
    static void requireLibrary(Method method, Class<?> result) {
        boolean suspends = KotlinDetector.isSuspendingFunction(method);
        if (!HAS_LIBRARY && (suspends || isFlow(result))) {
            throw LockSetupException.invalid(
                    (suspends ? "a suspending function" : "a Flow") + " needs " + LIBRARY
                            + ", which is not on the class path",
                    "Add " + LIBRARY);
        }
    }

    private static boolean isUnit(Class<?> type) {
        return type == void.class || type.getName().equals("kotlin.Unit");
    }

    /** The accessors of properties are none. */
    private static boolean isFunction(Method method) {
        @Nullable
        String @Nullable [] names = KotlinDetector.isKotlinReflectPresent()
                ? new KotlinReflectionParameterNameDiscoverer().getParameterNames(method)
                : null;
        return names != null;
    }
}
