package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockTemplate;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Tells Spring which methods run under locks, and by what. Its order puts the lock outside of a transaction of the same
 * method.
 */
public final class DistributedLockAdvisor implements PointcutAdvisor, Ordered, AutoCloseable {

    private final DistributedLockInterceptor interceptor;
    private final Pointcut pointcut;
    private final int order;

    /** For futures: one waits for each plain one; all others only send releases. */
    private final ExecutorService threads;

    /**
     * @param template for annotations that name no manager; looked up at the first call of an annotated method, so that no lock
     *     bean is made before its time
     * @param beans among which those are that annotations name
     * @param waitTime for annotations that name none; looked up with the first of them
     * @param nanoTime a monotonic clock
     */
    public DistributedLockAdvisor(
            Supplier<LockTemplate> template,
            ConfigurableListableBeanFactory beans,
            Supplier<Duration> waitTime,
            int order,
            LongSupplier nanoTime) {
        CustomizableThreadFactory factory = new CustomizableThreadFactory("syncguard-future-");
        factory.setDaemon(true);
        // A task that comes after the shutdown runs on the thread that brings it: dropped, its future would never be
        // done.
        this.threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                60,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                factory,
                (task, pool) -> task.run());
        LockedMethods methods = new LockedMethods(beans, template, waitTime);
        this.interceptor = new DistributedLockInterceptor(methods, threads, nanoTime);
        this.pointcut = new AnnotatedMethods(methods);
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

    /** Ends idle threads; one that waits for a future ends with it. Locks were taken back before, when the engine stopped. */
    @Override
    public void close() {
        threads.shutdown();
    }

    /** Matches what {@link LockedMethods} finds an annotation for. */
    private static final class AnnotatedMethods extends StaticMethodMatcher implements Pointcut, ClassFilter {

        private final LockedMethods methods;

        AnnotatedMethods(LockedMethods methods) {
            this.methods = methods;
        }

        @Override
        public ClassFilter getClassFilter() {
            return this;
        }

        @Override
        public MethodMatcher getMethodMatcher() {
            return this;
        }

        @Override
        public boolean matches(Class<?> type) {
            if (!AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
                return false;
            }
            methods.check(type);
            return true;
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return methods.find(method, targetClass) != null;
        }
    }
}
