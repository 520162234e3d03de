package io.syncguard.aop;

import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderOnly;
import java.time.Duration;
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
     * @param waitTime how long a call waits for the first decision of its election; looked up by the first such call
     */
    public LeaderOnlyAdvisor(
            Supplier<LeaderElection> election,
            StringValueResolver placeholders,
            Supplier<Duration> waitTime,
            int order) {
        this.parser = new LeaderOnlyMethodParser(election, placeholders);
        ListenerMethodHint listeners = new ListenerMethodHint(
                LeaderOnly.class.getSimpleName(),
                "an instance that does not lead leaves the call out, so its message is acknowledged and lost. Start and"
                        + " stop the container of the listener in a LeaderListener instead");
        AnnotatedMethodPointcut<LeaderOnly, LeaderOnlyMethod> methods =
                new AnnotatedMethodPointcut<>(LeaderOnly.class, "on all instances", (annotation, method, type) -> {
                    LeaderOnlyMethod parsed = parser.parse(annotation, method, type);
                    listeners.check(method, parsed.description());
                    return parsed;
                });
        this.interceptor = new LeaderOnlyInterceptor(methods, election, waitTime, bodies);
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
