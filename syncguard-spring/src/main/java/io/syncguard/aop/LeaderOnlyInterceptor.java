package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.interception.AnnotatedCall;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.leader.TermBody;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import reactor.core.scheduler.Schedulers;

/**
 * Runs an annotated method under the current term of this process, or skips it. A call before the first decision of the
 * election waits for it.
 */
final class LeaderOnlyInterceptor implements MethodInterceptor {

    private static final Log log = LogFactory.getLog(LeaderOnlyInterceptor.class);

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.scheduler.Schedulers", LeaderOnlyInterceptor.class.getClassLoader());

    private final AnnotatedMethodPointcut<LeaderOnly, LeaderOnlyMethod> methods;
    private final Supplier<LeaderElection> election;
    private final Supplier<Duration> waitTime;
    private final BodyRunner bodies;
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    LeaderOnlyInterceptor(
            AnnotatedMethodPointcut<LeaderOnly, LeaderOnlyMethod> methods,
            Supplier<LeaderElection> election,
            Supplier<Duration> waitTime,
            BodyRunner bodies) {
        this.methods = methods;
        this.election = election;
        this.waitTime = waitTime;
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
        TermBody body = begin(method);
        return body == null
                ? method.result().skipped()
                : bodies.run(() -> body.call(call::proceed), method.result()::requireThere, body::end, body::onEnd);
    }

    /** Begins a body, perhaps after the first decision of the election; {@code null} if this process does not lead. */
    private @Nullable TermBody begin(LeaderOnlyMethod method) {
        LeaderMember member = LockSetupException.requireAnswer(
                "LeaderElection.member", election.get().member(method.election()));
        TermBody body = member.beginBody();
        if (body != null) {
            return body;
        }
        if (!member.awaitDecision(isOnEventLoop() ? Duration.ZERO : waitTime.get())) {
            report(method, ": it is not decided yet which process leads", log::warn);
        } else if (!member.isJoined()) {
            report(method, ": this process has not joined the election", log::info);
        }
        return member.beginBody();
    }

    private void report(LeaderOnlyMethod method, String reason, Consumer<String> first) {
        String message =
                "Skipped " + method.description() + ", which is for the leader of '" + method.election() + "'" + reason;
        if (reported.add(message)) {
            first.accept(message + ". Further calls are logged at debug");
        } else {
            log.debug(message);
        }
    }

    /** A thread that must not wait, because many requests share it. */
    private static boolean isOnEventLoop() {
        return REACTOR && Schedulers.isInNonBlockingThread();
    }
}
