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

/** Reads what Kotlin declares about the results of functions. */
final class KotlinFunction {

    private static final String FLOW = "kotlinx.coroutines.flow.Flow";

    private static final String LIBRARY = "org.jetbrains.kotlinx:kotlinx-coroutines-reactor";

    private static final boolean HAS_LIBRARY =
            ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", KotlinFunction.class.getClassLoader());

    private KotlinFunction() {}

    /** Returns the type of the result; for a suspending function, the type that it has in Kotlin. */
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
     * Whether the result is {@code T} rather than {@code T?}. For a type parameter, this depends on its argument, which
     * is unknown.
     *
     * @param ofTypeParameter the answer for a type parameter
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

    /** Whether it is a function of Kotlin. The accessor of a property is not. */
    private static boolean isFunction(Method method) {
        @Nullable
        String @Nullable [] names = KotlinDetector.isKotlinReflectPresent()
                ? new KotlinReflectionParameterNameDiscoverer().getParameterNames(method)
                : null;
        return names != null;
    }
}
