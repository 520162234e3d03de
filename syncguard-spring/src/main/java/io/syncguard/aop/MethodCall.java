package io.syncguard.aop;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The method call that an expression reads as {@code #root}.
 */
final class MethodCall {

    private final Method method;
    private final @Nullable Object[] args;
    private final @Nullable Object target;
    private final Class<?> targetClass;

    MethodCall(Method method, @Nullable Object[] args, @Nullable Object target, Class<?> targetClass) {
        this.method = method;
        this.args = args;
        this.target = target;
        this.targetClass = targetClass;
    }

    static MethodCall of(MethodInvocation invocation, Class<?> targetClass) {
        return new MethodCall(invocation.getMethod(), invocation.getArguments(), invocation.getThis(), targetClass);
    }

    public Method getMethod() {
        return method;
    }

    public @Nullable Object[] getArgs() {
        return args;
    }

    public @Nullable Object getTarget() {
        return target;
    }

    public Class<?> getTargetClass() {
        return targetClass;
    }
}
