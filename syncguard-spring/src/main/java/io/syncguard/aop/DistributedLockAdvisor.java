package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.LockTemplate;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.interception.PublisherThreads;
import io.syncguard.reactive.ReactiveThreads;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;

/**
 * Advisor for {@link DistributedLock} methods. Its order puts the lock outside the transaction of the same method.
 */
public final class DistributedLockAdvisor
        implements PointcutAdvisor, Ordered, SmartInitializingSingleton, AutoCloseable {

    private final LockedMethodParser parser;
    private final DistributedLockInterceptor interceptor;
    private final AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods;
    private final int order;
    private final Set<Method> lockedMethods = ConcurrentHashMap.newKeySet();

    private final BodyRunner bodies = new BodyRunner("syncguard-future");
    private final PublisherThreads publishers = new PublisherThreads("syncguard-reactive");
    private final SingletonSupplier<ReactiveThreads> reactiveThreads;

    /**
     * @param template used for annotations that name no manager; looked up at the first call of an annotated method, so
     *     that no lock bean is created early
     * @param beans contains the lock managers and the beans of expressions
     * @param limits the defaults of annotations; looked up when the first annotation is parsed
     * @param maxWaiting how many subscriptions may wait for locks; looked up for the first of them
     */
    public DistributedLockAdvisor(
            Supplier<LockTemplate> template,
            ConfigurableListableBeanFactory beans,
            Supplier<CallLimits> limits,
            int order,
            IntSupplier maxWaiting) {
        this.reactiveThreads = SingletonSupplier.of(
                () -> new ReactiveThreads(publishers.acquisitions(), publishers.releases(), maxWaiting.getAsInt()));
        this.parser = new LockedMethodParser(beans, template, limits);
        ScheduledMethodHint scheduled = new ScheduledMethodHint(beans);
        ListenerMethodHint listeners = new ListenerMethodHint(
                DistributedLock.class.getSimpleName(),
                "a call that is refused the lock is left out, so its message is acknowledged and lost. Leave out"
                        + " onContention = OnContention.SKIP, and set when a message whose listener fails is delivered"
                        + " again");
        this.methods =
                new AnnotatedMethodPointcut<>(DistributedLock.class, "without a lock", (annotation, method, type) -> {
                    lockedMethods.add(method);
                    LockedMethod locked = parser.parse(annotation, method, type);
                    if (locked.skips()) {
                        listeners.check(method, locked.description());
                    }
                    return scheduled.checked(annotation, locked, method, type);
                });
        this.interceptor = new DistributedLockInterceptor(methods, bodies, reactiveThreads);
        this.order = order;
    }

    /**
     * Returns the advisor that checks the fences of the same methods inside their transactions.
     *
     * @param check supplies the check, which receives a resource and a fence and throws when it refuses the fence;
     *     called when all beans exist, and only if a method has a fenced resource
     */
    public FenceCheckAdvisor fenceCheckAdvisor(Supplier<BiConsumer<String, Fence>> check) {
        return new FenceCheckAdvisor(methods, check);
    }

    /** The locks of all methods that were parsed so far, which are those of the beans that exist. */
    public Set<AnnotatedLock> locks() {
        return Set.copyOf(parser.locks());
    }

    /** The numbers of permits of these methods, by lock name. Names without permits are left out. */
    public Map<String, Set<Integer>> permits() {
        return parser.locks().stream()
                .filter(lock -> lock.permits() > 0)
                .collect(Collectors.groupingBy(
                        AnnotatedLock::name,
                        Collectors.mapping(AnnotatedLock::permits, Collectors.toCollection(TreeSet::new))));
    }

    /** The threads on which subscriptions acquire and release their locks. */
    public ReactiveThreads reactiveThreads() {
        return reactiveThreads.obtain();
    }

    /** The annotated methods of the beans that have been made so far. */
    public Set<Method> lockedMethods() {
        return Set.copyOf(lockedMethods);
    }

    @Override
    public Pointcut getPointcut() {
        return methods;
    }

    @Override
    public Advice getAdvice() {
        return interceptor;
    }

    @Override
    public int getOrder() {
        return order;
    }

    /** Fails the start when an expression names a bean that does not exist. */
    @Override
    public void afterSingletonsInstantiated() {
        parser.requireBeans();
    }

    /** Called after the engine has released all locks. */
    @Override
    public void close() {
        bodies.close();
        publishers.close();
    }
}
