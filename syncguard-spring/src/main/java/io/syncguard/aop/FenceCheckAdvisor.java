package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.LockSetupException;
import io.syncguard.interception.AnnotatedMethodPointcut;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.Ordered;

/**
 * Advisor for locked methods with a fenced resource. It comes after all other advisors, so that it checks the fences
 * inside the transaction.
 */
public final class FenceCheckAdvisor implements PointcutAdvisor, Ordered, SmartInitializingSingleton {

    private final Pointcut pointcut;
    private final Supplier<BiConsumer<String, Fence>> check;
    private final FenceCheckInterceptor interceptor;

    /** One method with a fenced resource. Written while the first beans are created, and read when all exist. */
    private volatile @Nullable String fenced;

    FenceCheckAdvisor(
            AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods, Supplier<BiConsumer<String, Fence>> check) {
        this.pointcut = methods.only(this::isFenced);
        this.check = check;
        this.interceptor = new FenceCheckInterceptor(check);
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return interceptor;
    }

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    /** Fails the start when a method has a fenced resource and no guard can check it. */
    @Override
    public void afterSingletonsInstantiated() {
        String method = fenced;
        if (method != null) {
            try {
                check.get();
            } catch (LockSetupException ex) {
                throw LockSetupException.at("@DistributedLock on " + method + ", attribute 'fencedResource'", ex);
            }
        }
    }

    private boolean isFenced(LockedMethod method) {
        if (method.fencedResource() == null) {
            return false;
        }
        fenced = method.description();
        return true;
    }
}
