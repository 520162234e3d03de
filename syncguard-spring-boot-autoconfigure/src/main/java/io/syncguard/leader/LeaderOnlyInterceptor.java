package io.syncguard.leader;

import io.syncguard.aop.AnnotatedMethods;
import io.syncguard.aop.HeldFutures;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/**
 * Runs an annotated method under the current term of this process, or leaves it out.
 */
final class LeaderOnlyInterceptor implements MethodInterceptor {

    private final AnnotatedMethods<LeaderOnly, LeaderOnlyMethod> methods;
    private final Supplier<LeaderElection> election;
    private final HeldFutures futures;

    LeaderOnlyInterceptor(
            AnnotatedMethods<LeaderOnly, LeaderOnlyMethod> methods,
            Supplier<LeaderElection> election,
            HeldFutures futures) {
        this.methods = methods;
        this.election = election;
        this.futures = futures;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> targetClass =
                target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        LeaderOnlyMethod method = methods.find(invocation.getMethod(), targetClass);
        if (method == null) {
            return invocation.proceed();
        }
        TermBody body = election.get().member(method.election()).beginBody();
        return body == null
                ? method.result().skipped()
                : futures.run(() -> body.call(() -> proceed(invocation)), body::end, body::onEnd);
    }

    /** That a callable of {@code @Nullable Object} may return null, NullAway sees on JDK 22 and later only. */
    @SuppressWarnings("NullAway")
    private static @Nullable Object proceed(MethodInvocation invocation) throws Exception {
        try {
            return invocation.proceed();
        } catch (Exception | Error ex) {
            throw ex;
        } catch (Throwable ex) {
            throw new UndeclaredThrowableException(ex);
        }
    }
}
