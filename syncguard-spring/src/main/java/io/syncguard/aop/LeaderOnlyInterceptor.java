package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.interception.AnnotatedCall;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.leader.TermBody;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Runs an annotated method under the current term of this process, or skips it.
 */
final class LeaderOnlyInterceptor implements MethodInterceptor {

    private final AnnotatedMethodPointcut<LeaderOnly, LeaderOnlyMethod> methods;
    private final Supplier<LeaderElection> election;
    private final BodyRunner bodies;

    LeaderOnlyInterceptor(
            AnnotatedMethodPointcut<LeaderOnly, LeaderOnlyMethod> methods,
            Supplier<LeaderElection> election,
            BodyRunner bodies) {
        this.methods = methods;
        this.election = election;
        this.bodies = bodies;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        AnnotatedCall<LeaderOnlyMethod> call = methods.call(invocation);
        return call == null ? invocation.proceed() : run(call);
    }

    /** NullAway sees only on JDK 22 and later that a callable of {@code @Nullable Object} may return null. */
    @SuppressWarnings("NullAway")
    private @Nullable Object run(AnnotatedCall<LeaderOnlyMethod> call) throws Exception {
        LeaderOnlyMethod method = call.method();
        LeaderMember member = LockSetupException.requireAnswer(
                "LeaderElection.member", election.get().member(method.election()));
        TermBody body = member.beginBody();
        return body == null
                ? method.result().skipped()
                : bodies.run(() -> body.call(call::proceed), method.result()::requireThere, body::end, body::onEnd);
    }
}
