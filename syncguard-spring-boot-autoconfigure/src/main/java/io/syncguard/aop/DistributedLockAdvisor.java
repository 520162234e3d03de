package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockTemplate;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;

/**
 * Names to Spring the methods that run under locks, and their interceptor. Its order puts the lock outside of a
 * transaction of the same method.
 */
public final class DistributedLockAdvisor implements PointcutAdvisor, Ordered, AutoCloseable {

    private final DistributedLockInterceptor interceptor;
    private final Pointcut pointcut;
    private final int order;

    private final BodyRunner bodies = new BodyRunner("syncguard-future");

    /**
     * @param template for annotations that name no manager; looked up at the first call of an annotated method, so that
     *     no lock bean is made early
     * @param beans contains the lock managers and the beans of expressions
     * @param waitTime for annotations that name none; looked up for the first of them
     * @param nanoTime a monotonic clock
     */
    public DistributedLockAdvisor(
            Supplier<LockTemplate> template,
            ConfigurableListableBeanFactory beans,
            Supplier<Duration> waitTime,
            int order,
            LongSupplier nanoTime) {
        AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods = new AnnotatedMethodPointcut<>(
                DistributedLock.class, "without a lock", new LockedMethodParser(beans, template, waitTime)::parse);
        this.interceptor = new DistributedLockInterceptor(methods, bodies, nanoTime);
        this.pointcut = methods;
        this.order = order;
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
        return order;
    }

    /** Called after the engine has released all locks. */
    @Override
    public void close() {
        bodies.close();
    }
}
