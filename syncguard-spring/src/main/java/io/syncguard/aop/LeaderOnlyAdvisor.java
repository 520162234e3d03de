package io.syncguard.aop;

import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderOnly;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.Ordered;
import org.springframework.util.StringValueResolver;

/**
 * Advisor for {@link LeaderOnly} methods. Its order puts the check of the leadership outside the locks and transactions
 * of the same method.
 */
public final class LeaderOnlyAdvisor implements PointcutAdvisor, Ordered, SmartInitializingSingleton, AutoCloseable {

    private final LeaderOnlyMethodParser parser;
    private final LeaderOnlyInterceptor interceptor;
    private final Pointcut pointcut;
    private final int order;

    private final BodyRunner bodies = new BodyRunner("syncguard-leader-future");

    /**
     * @param election looked up when all beans exist, so that no bean is created early
     * @param placeholders resolves placeholders in the names of elections
     */
    public LeaderOnlyAdvisor(Supplier<LeaderElection> election, StringValueResolver placeholders, int order) {
        this.parser = new LeaderOnlyMethodParser(election, placeholders);
        AnnotatedMethodPointcut<LeaderOnly, LeaderOnlyMethod> methods =
                new AnnotatedMethodPointcut<>(LeaderOnly.class, "on all instances", parser::parse);
        this.interceptor = new LeaderOnlyInterceptor(methods, election, bodies);
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

    @Override
    public void afterSingletonsInstantiated() {
        parser.requireElections();
    }

    @Override
    public void close() {
        bodies.close();
    }
}
