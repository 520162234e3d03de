package io.syncguard.leader;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.aop.AnnotatedMethods;
import io.syncguard.aop.HeldFutures;
import io.syncguard.aop.ResultType;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/**
 * Tells Spring which methods run on leaders alone. Its order puts the look at the leadership outside of locks and transactions of
 * the same method.
 */
public final class LeaderOnlyAdvisor implements PointcutAdvisor, Ordered, SmartInitializingSingleton, AutoCloseable {

    private final Supplier<LeaderElection> election;
    private final StringValueResolver placeholders;
    private final AnnotatedMethods<LeaderOnly, LeaderOnlyMethod> methods =
            new AnnotatedMethods<>(LeaderOnly.class, "on all instances", this::read);
    private final HeldFutures futures = new HeldFutures("syncguard-leader-future");
    private final LeaderOnlyInterceptor interceptor;
    private final int order;

    /** What was read before elections were known. */
    private final List<LeaderOnlyMethod> unchecked = new CopyOnWriteArrayList<>();

    /** Written by the thread that starts the application, read by all. */
    private volatile boolean electionsAreKnown;

    /**
     * @param election looked up when all beans are there, so that none is made before its time
     * @param placeholders for the names of elections
     */
    public LeaderOnlyAdvisor(Supplier<LeaderElection> election, StringValueResolver placeholders, int order) {
        this.election = election;
        this.placeholders = placeholders;
        this.interceptor = new LeaderOnlyInterceptor(methods, election, futures);
        this.order = order;
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

    /** A bean may have made an election known while it was made. */
    @Override
    public void afterSingletonsInstantiated() {
        electionsAreKnown = true;
        unchecked.forEach(this::check);
        unchecked.clear();
    }

    @Override
    public void close() {
        futures.close();
    }

    private LeaderOnlyMethod read(LeaderOnly annotation, Method method, Class<?> targetClass) {
        String description = ClassUtils.getQualifiedMethodName(method);
        String name = placeholders.resolveStringValue(annotation.value());
        try {
            LeaderOnlyMethod read =
                    new LeaderOnlyMethod(description, name == null ? "" : name, new ResultType(method, targetClass));
            if (electionsAreKnown) {
                check(read);
            } else {
                unchecked.add(read);
            }
            return read;
        } catch (IllegalArgumentException ex) {
            throw mistake(description, ex);
        }
    }

    private void check(LeaderOnlyMethod method) {
        try {
            election.get().member(method.election());
        } catch (LockException ex) {
            throw mistake(method.description(), ex);
        }
    }

    private static LockException mistake(String method, RuntimeException ex) {
        return new LockException(
                LockErrorCode.INVALID_ARGUMENT, "@LeaderOnly on " + method + ": " + ex.getMessage(), ex);
    }
}
