package io.syncguard.aop;

import java.lang.reflect.Method;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.framework.ReflectiveMethodInvocation;

/**
 * One call of a fallback, with the advice that its annotations and those of its class have. A call of the proxy would
 * miss fallbacks that are private or final, or in no interface of the proxy.
 */
final class FallbackCall extends ReflectiveMethodInvocation {

    private final boolean locked;

    /**
     * @param locked whether an annotation of the method itself asks for a lock; that of its class has just been refused
     * @param refused the call that was refused its lock
     */
    FallbackCall(Method method, boolean locked, @Nullable Object[] arguments, MethodInvocation refused) {
        super(
                ((ProxyMethodInvocation) refused).getProxy(),
                refused.getThis(),
                method,
                arguments,
                classOf(refused.getThis()),
                advice(method, refused));
        this.locked = locked;
    }

    boolean isLocked() {
        return locked;
    }

    private static List<Object> advice(Method method, MethodInvocation refused) {
        return ((ProxyMethodInvocation) refused).getProxy() instanceof Advised advised
                ? DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(
                        advised, method, classOf(refused.getThis()))
                : List.of();
    }

    private static @Nullable Class<?> classOf(@Nullable Object target) {
        return target == null ? null : target.getClass();
    }
}
