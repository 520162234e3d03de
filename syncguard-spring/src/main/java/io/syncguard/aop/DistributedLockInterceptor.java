package io.syncguard.aop;

import io.syncguard.CurrentLocks;
import io.syncguard.DistributedLock;
import io.syncguard.JointLocks;
import io.syncguard.LockHandle;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
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
        return requests.isEmpty() ? call.proceed() : new LockedCall(call, requests).run();
    }

    /** One call. It acquires its locks in order, free ones together, and releases them in reverse order. */
    private final class LockedCall {

        private final LockedMethod method;
        private final AnnotatedCall<LockedMethod> call;
        private final List<FencedRequest> requests;
        private final OpenCall open;
        private final List<LockHandle> locks = new ArrayList<>(1);
        private final List<FencedLock> fencedLocks = new ArrayList<>(0);
        private @Nullable LockNotAcquiredException refusal;

        /** The number of locks that the call has entered. */
        private int entered;

        /** The manager of all locks of the call, resolved for the first one. */
        private @Nullable LockManager manager;

        LockedCall(AnnotatedCall<LockedMethod> call, List<FencedRequest> requests) {
            this.method = call.method();
            this.call = call;
            this.requests = requests;
            this.open = new OpenCall(call, nanoTime);
        }

        private @Nullable Object run() throws Exception {
            Object result = bodies.run(this::callUnderLocks, this::checkResult, this::release, this::onLost);
            return result == REFUSED ? withoutLock() : result;
        }

        /** NullAway sees only on JDK 22 and later that a callable of {@code @Nullable Object} may return null. */
        @SuppressWarnings("NullAway")
        private @Nullable Object callUnderLocks() throws Exception {
            return CurrentLocks.<@Nullable Object>call(this::nextLock, () -> refusal == null ? callBody() : REFUSED);
        }

        private @Nullable Object callBody() throws Exception {
            requireHeld();
            if (!fencedLocks.isEmpty()) {
                FencedLock.pass(fencedLocks, call.invocation());
            }
            return call.proceed();
        }

        /** Returns the lock that the call enters next; {@code null} after the last one, and after a refusal. */
        private @Nullable LockHandle nextLock() {
            if (entered == locks.size() && entered < requests.size()) {
                acquireNext();
            }
            return entered < locks.size() ? locks.get(entered++) : null;
        }

        private void acquireNext() {
            try {
                for (LockHandle lock : acquire(requests.subList(locks.size(), requests.size()))) {
                    String resource = requests.get(locks.size()).resource();
                    locks.add(lock);
                    if (resource != null) {
                        fencedLocks.add(new FencedLock(lock, resource));
                    }
                }
            } catch (LockNotAcquiredException ex) {
                if (!open.continuesWithoutLock()) {
                    throw ex;
                }
                refusal = ex;
            }
        }

        /** Acquires the first missing lock, and those behind it that are free. */
        private List<LockHandle> acquire(List<FencedRequest> missing) {
            LockRequest first = missing.get(0).lock().waitExactly(open.timeLeft());
            if (missing.size() == 1) {
                return List.of(LockSetupException.requireAnswer(
                        "LockManager.acquire", manager().acquire(first)));
            }
            List<LockRequest> together = new ArrayList<>(missing.size());
            together.add(first);
            missing.subList(1, missing.size()).forEach(other -> together.add(other.lock()));
            List<LockHandle> acquired = JointLocks.of(manager()).acquireTogether(together);
            if (acquired.isEmpty()) {
                throw new IllegalStateException(manager()
                        + " returned no handle from acquireTogether: return that of the first request, or throw");
            }
            return acquired;
        }

        private LockManager manager() {
            if (manager == null) {
                manager = LockSetupException.requireAnswer(
                        "LockManager.current", method.manager().current());
            }
            return manager;
        }

        /** Called after a refusal, when the locks of the other keys have been released. */
        private @Nullable Object withoutLock() throws Exception {
            return open.withoutLock(nameOf(call.invocation().getMethod()), Objects.requireNonNull(refusal))
                    .call();
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

        private void checkResult(@Nullable Object result) {
            method.result().requireThere(result);
        }

        private void release(@Nullable Throwable cancelled) {
            try {
                if (locks.size() == 1) {
                    locks.get(0).close();
                } else if (!locks.isEmpty()) {
                    JointLocks.of(manager()).closeAll(locks);
                }
            } catch (LockLostException ex) {
                throw cancelled == null ? ex : causedBy(cancelled, ex);
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

    private static LockLostException causedBy(Throwable cancelled, LockLostException lost) {
        LockLostException caused = new LockLostException(lost.key(), String.valueOf(lost.getMessage()), cancelled);
        for (Throwable suppressed : lost.getSuppressed()) {
            caused.addSuppressed(suppressed);
        }
        return caused;
    }
}
