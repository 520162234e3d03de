package io.syncguard.aop;

import io.syncguard.CurrentLocks;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.OnLost;
import io.syncguard.interception.AnnotatedCall;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.interception.BodyRunner;
import io.syncguard.reactive.ReactiveThreads;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * Runs an annotated method under its locks.
 *
 * <p>The code that skips a refused call, or calls its fallback, does not enclose the body. So a
 * {@code LockNotAcquiredException} of the body reaches the caller.
 */
final class DistributedLockInterceptor implements MethodInterceptor {

    private static final Log log = LogFactory.getLog(DistributedLockInterceptor.class);

    /** The result of a call that was refused one of its locks. No body returns it. */
    private static final Object REFUSED = new Object();

    private final AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods;
    private final BodyRunner bodies;
    private final Supplier<ReactiveThreads> reactiveThreads;
    private final LongSupplier nanoTime;

    DistributedLockInterceptor(
            AnnotatedMethodPointcut<DistributedLock, LockedMethod> methods,
            BodyRunner bodies,
            Supplier<ReactiveThreads> reactiveThreads,
            LongSupplier nanoTime) {
        this.methods = methods;
        this.bodies = bodies;
        this.reactiveThreads = reactiveThreads;
        this.nanoTime = nanoTime;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        AnnotatedCall<LockedMethod> call = methods.call(invocation);
        return call == null ? invocation.proceed() : run(call);
    }

    private @Nullable Object run(AnnotatedCall<LockedMethod> call) throws Exception {
        LockedMethod method = call.method();
        ReactiveAdapter reactive = method.result().reactive();
        if (reactive != null) {
            return new ReactiveCall(call, reactive, reactiveThreads, nanoTime).publisher();
        }
        List<FencedRequest> requests = method.requests(MethodCall.of(call.invocation(), call.targetClass()));
        return requests.isEmpty() ? call.proceed() : new LockedCall(method, call).run(requests);
    }

    /** One call: it takes its locks one after the other, and releases them in reverse order. */
    private final class LockedCall {

        private final LockedMethod method;
        private final AnnotatedCall<LockedMethod> call;
        private final long began = nanoTime.getAsLong();
        private final List<LockHandle> locks = new ArrayList<>(1);
        private final List<FencedLock> fencedLocks = new ArrayList<>(0);
        private @Nullable LockNotAcquiredException refusal;

        /** All locks of a call are in the store of its first one. */
        private @Nullable LockManager manager;

        LockedCall(LockedMethod method, AnnotatedCall<LockedMethod> call) {
            this.method = method;
            this.call = call;
        }

        private @Nullable Object run(List<FencedRequest> requests) throws Exception {
            Object result = bodies.run(
                    () -> callUnderLocks(requests.iterator()), this::requireThere, this::release, this::onLost);
            return result == REFUSED ? withoutLock() : result;
        }

        /** Only on JDK 22 and later NullAway sees that a callable of {@code @Nullable Object} may return null. */
        @SuppressWarnings("NullAway")
        private @Nullable Object callUnderLocks(Iterator<FencedRequest> requests) throws Exception {
            return CurrentLocks.<@Nullable Object>call(
                    () -> requests.hasNext() && refusal == null ? acquire(requests.next()) : null,
                    () -> refusal == null ? callBody() : REFUSED);
        }

        private @Nullable Object callBody() throws Exception {
            requireHeld();
            if (!fencedLocks.isEmpty()) {
                FencedLock.pass(fencedLocks, call.invocation());
            }
            return call.proceed();
        }

        private @Nullable LockHandle acquire(FencedRequest request) {
            LockHandle lock = acquire(request.lock());
            if (lock != null) {
                locks.add(lock);
                if (request.resource() != null) {
                    fencedLocks.add(new FencedLock(lock, request.resource()));
                }
            }
            return lock;
        }

        private @Nullable LockHandle acquire(LockRequest request) {
            try {
                return manager().acquire(request.waitTime(timeLeft()));
            } catch (LockNotAcquiredException ex) {
                if (method.skips() || method.fallback() != null) {
                    refusal = ex;
                    return null;
                }
                throw ex;
            }
        }

        private LockManager manager() {
            if (manager == null) {
                manager = method.template().get().manager().current();
            }
            return manager;
        }

        /** After a refusal, when the locks of the other keys have been released. */
        private @Nullable Object withoutLock() throws Exception {
            FallbackMethod fallback = method.fallback();
            String name = nameOf(call.invocation().getMethod());
            if (fallback != null && refusal != null) {
                log.debug(
                        "Called " + fallback.method().getName() + " instead of " + name + ": " + refusal.getMessage());
                return fallback.run(call.invocation(), refusal);
            }
            log.debug("Skipped " + name + ": " + (refusal == null ? "" : refusal.getMessage()));
            return method.result().skipped();
        }

        /** The first locks may have been lost while the call waited for the others. */
        private void requireHeld() {
            for (LockHandle lock : locks) {
                if (!lock.isHeld()) {
                    throw new LockLostException(
                            lock.key(),
                            "Lock '" + lock.key() + "' was lost while the call waited for its other locks; the method"
                                    + " did not run");
                }
            }
        }

        /** Several keys share one wait time. */
        private Duration timeLeft() {
            if (locks.isEmpty()) {
                return method.waitTime();
            }
            Duration left = method.waitTime().minusNanos(nanoTime.getAsLong() - began);
            return left.isNegative() ? Duration.ZERO : left;
        }

        private void requireThere(@Nullable Object result) {
            method.result().requireThere(result);
        }

        /** The failure of one release prevents none of the others. */
        private void release(@Nullable Throwable cancelled) {
            Throwable failure = null;
            for (int i = locks.size() - 1; i >= 0; i--) {
                try {
                    close(locks.get(i), cancelled);
                } catch (RuntimeException | Error ex) {
                    if (failure == null) {
                        failure = ex;
                    } else {
                        failure.addSuppressed(ex);
                    }
                }
            }
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure != null) {
                throw (RuntimeException) failure;
            }
        }

        private void onLost(Runnable cancel) {
            locks.stream().filter(lock -> interrupts(lock)).forEach(lock -> lock.onLost(cancel));
        }
    }

    private static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    private static boolean interrupts(LockHandle lock) {
        return lock.request().onLost() == OnLost.INTERRUPT;
    }

    private static void close(LockHandle lock, @Nullable Throwable cancelled) {
        try {
            lock.close();
        } catch (LockLostException ex) {
            throw cancelled == null ? ex : new LockLostException(ex.key(), String.valueOf(ex.getMessage()), cancelled);
        }
    }
}
