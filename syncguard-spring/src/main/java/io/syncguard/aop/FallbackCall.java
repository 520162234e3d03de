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

    private FallbackCall(
            Object proxy, @Nullable Object target, Method method, @Nullable Object[] arguments, List<Object> advice) {
        super(proxy, target, method, arguments, target == null ? null : target.getClass(), advice);
    }

    /** @param refused the call that was refused its lock */
    static FallbackCall of(FallbackMethod fallback, @Nullable Object[] arguments, MethodInvocation refused) {
        Object proxy = ((ProxyMethodInvocation) refused).getProxy();
        Object target = refused.getThis();
        List<Object> advice = proxy instanceof Advised advised
                ? DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(
                        advised, fallback.method(), target == null ? null : target.getClass())
                : List.of();
        // The annotation of the class has just refused its lock.
        List<Object> applying = advice.stream()
                .filter(each -> fallback.hasOwnLock() || !(each instanceof DistributedLockInterceptor))
                .toList();
        return new FallbackCall(proxy, target, fallback.method(), arguments, applying);
    }
}
