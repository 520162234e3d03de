package io.syncguard.aop;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockSetupException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
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
        Class<?>[] withRefusal = Arrays.copyOf(plain, plain.length + 1);
        withRefusal[plain.length] = LockNotAcquiredException.class;
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
            arguments = Arrays.copyOf(arguments, arguments.length + 1);
            arguments[arguments.length - 1] = refusal;
        }
        try {
            return method.invoke(call.getThis(), arguments);
        } catch (InvocationTargetException ex) {
            ReflectionUtils.rethrowException(ex.getTargetException());
            throw ex;
        }
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
