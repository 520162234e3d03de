package io.syncguard.aop;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockSetupException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.CoroutinesUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/**
 * What runs instead of a method whose lock was refused.
 *
 * @param method a method of the same class
 * @param takesRefusal whether it has a parameter for the refusal, the last one
 */
record FallbackMethod(Method method, boolean takesRefusal) {

    /** @throws LockSetupException when the class has no such method, or its result is another one */
    static FallbackMethod find(String name, Method locked, Class<?> targetClass) {
        Class<?>[] plain = locked.getParameterTypes();
        Class<?>[] withRefusal = insert(LockNotAcquiredException.class, plain, locked);
        Method found = ReflectionUtils.findMethod(targetClass, name, withRefusal);
        boolean takesRefusal = found != null;
        if (found == null) {
            found = ReflectionUtils.findMethod(targetClass, name, plain);
        }
        if (found == null) {
            throw LockSetupException.invalid(
                    targetClass.getSimpleName() + " has no method '" + name + "' with the parameters of this method",
                    "Write one, with or without a LockNotAcquiredException as its last parameter",
                    "Correct the name in 'fallback'");
        }
        requireResult(found, locked, targetClass);
        ReflectionUtils.makeAccessible(found);
        return new FallbackMethod(found, takesRefusal);
    }

    @Nullable
    Object run(MethodInvocation call, LockNotAcquiredException refusal) throws Exception {
        @Nullable Object[] arguments = call.getArguments();
        if (takesRefusal) {
            arguments = insert(refusal, arguments, method);
        }
        try {
            if (KotlinDetector.isSuspendingFunction(method)) {
                return CoroutinesUtils.invokeSuspendingFunction(
                        method, Objects.requireNonNull(call.getThis()), arguments);
            }
            return method.invoke(call.getThis(), arguments);
        } catch (InvocationTargetException ex) {
            ReflectionUtils.rethrowException(ex.getTargetException());
            throw ex;
        }
    }

    /** Puts it behind the arguments. The last parameter of a suspending function is none of them. */
    private static <T extends @Nullable Object> T[] insert(T refusal, T[] arguments, Method suspending) {
        List<T> all = new ArrayList<>(Arrays.asList(arguments));
        all.add(KotlinDetector.isSuspendingFunction(suspending) ? all.size() - 1 : all.size(), refusal);
        return all.toArray(Arrays.copyOf(arguments, 0));
    }

    private static void requireResult(Method fallback, Method locked, Class<?> targetClass) {
        ResolvableType wanted = ResolvableType.forMethodReturnType(locked, targetClass);
        ResolvableType given = ResolvableType.forMethodReturnType(fallback, targetClass);
        if (!wanted.isAssignableFrom(given)) {
            throw LockSetupException.invalid(
                    "the result of '" + fallback.getName() + "' is " + given + ", but that of this method is " + wanted,
                    "Return " + wanted + " from '" + fallback.getName() + "'");
        }
    }
}
