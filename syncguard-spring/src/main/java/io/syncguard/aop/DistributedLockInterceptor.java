package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.OnLost;
import io.syncguard.interception.AnnotatedCall;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.reactive.ReactiveThreads;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * Runs an annotated method under its locks.
 *
 * <p>The code that skips a refused call, or calls its fallback, does not enclose the body, so a
 * {@code LockNotAcquiredException} of the body reaches the caller.
 */
final class DistributedLockInterceptor implements MethodInterceptor {

    /** The result of a call that was refused one of its locks. No body returns it. */
    private static final Object REFUSED = new Object();

    private final AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods;
    private final BodyRunner bodies;
    private final Supplier<ReactiveThreads> reactiveThreads;

    DistributedLockInterceptor(
            AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods,
            BodyRunner bodies,
            Supplier<ReactiveThreads> reactiveThreads) {
        this.methods = methods;
        this.bodies = bodies;
        this.reactiveThreads = reactiveThreads;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        if (invocation instanceof FallbackCall fallback && !fallback.isLocked()) {
            return invocation.proceed();
        }
        AnnotatedCall<LockedMethod> call = methods.call(invocation);
        return call == null ? invocation.proceed() : run(call);
    }

    private @Nullable Object run(AnnotatedCall<LockedMethod> call) throws Exception {
        LockedMethod method = call.method();
        ReactiveAdapter reactive = method.result().reactive();
        if (reactive != null) {
            return new ReactiveCall(call, reactive, reactiveThreads).publisher();
        }
        List<FencedRequest> requests = method.requests(MethodCall.of(call.invocation(), call.targetClass()));
        return requests.isEmpty() ? call.proceed() : new LockedCall(call, requests).run();
    }

    /** One call. */
    private final class LockedCall {

        private final LockedMethod method;
        private final AnnotatedCall<LockedMethod> call;
        private final List<FencedRequest> requests;
        private final OpenCall open;
        private @Nullable LockHandles locks;
        private @Nullable LockNotAcquiredException refusal;

        LockedCall(AnnotatedCall<LockedMethod> call, List<FencedRequest> requests) {
            this.method = call.method();
            this.call = call;
            this.requests = requests;
            this.open = new OpenCall(call);
        }

        private @Nullable Object run() throws Exception {
            Object result = bodies.run(this::callUnderLocks, this::checkResult, this::release, this::onLost);
            return result == REFUSED ? withoutLock() : result;
        }

        /** NullAway sees only on JDK 22 and later that a callable of {@code @Nullable Object} may return null. */
        @SuppressWarnings("NullAway")
        private @Nullable Object callUnderLocks() throws Exception {
            try {
                locks = acquire(LockSetupException.requireAnswer(
                        "LockManager.current", method.manager().current()));
            } catch (LockNotAcquiredException ex) {
                if (!open.continuesWithoutLock()) {
                    throw ex;
                }
                refusal = ex;
                return REFUSED;
            }
            return locks.<@Nullable Object>bind(this::callBody).call();
        }

        private LockHandles acquire(LockManager manager) {
            Duration timeLeft = open.timeLeft();
            List<LockRequest> locks = requests.stream()
                    .map(request -> request.lock().waitExactly(timeLeft))
                    .toList();
            return locks.size() == 1
                    ? LockHandles.of(List.of(
                            LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(locks.get(0)))))
                    : LockSetupException.requireAnswer("LockManager.acquire", manager.acquire(locks));
        }

        private @Nullable Object callBody() throws Exception {
            List<FencedLock> fencedLocks = FencedLock.of(requests, handles());
            if (!fencedLocks.isEmpty()) {
                FencedLock.pass(fencedLocks, call.invocation());
            }
            return call.proceed();
        }

        /** Called after a refusal. */
        private @Nullable Object withoutLock() throws Exception {
            return open.withoutLock(nameOf(call.invocation().getMethod()), Objects.requireNonNull(refusal))
                    .call();
        }

        private void checkResult(@Nullable Object result) {
            method.result().requireThere(result);
        }

        private void release(@Nullable Throwable cancelled) {
            try {
                if (locks != null) {
                    locks.close();
                }
            } catch (LockLostException ex) {
                throw cancelled == null ? ex : ex.as(String.valueOf(ex.getMessage()), cancelled);
            }
        }

        private void onLost(Runnable cancel) {
            handles().stream().filter(lock -> interrupts(lock)).forEach(lock -> lock.onLost(cancel));
        }

        private List<LockHandle> handles() {
            return locks == null ? List.of() : locks.all();
        }
    }

    private static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    private static boolean interrupts(LockHandle lock) {
        return lock.request().onLost() == OnLost.INTERRUPT;
    }
}
