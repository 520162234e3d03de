package io.syncguard.aop;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.interception.AnnotatedCall;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One call of a locked method, until it has its locks: how long it may wait for them, and what happens without them.
 * Used by one thread after the other.
 */
final class OpenCall {

    private static final Log log = LogFactory.getLog(OpenCall.class);

    private final AnnotatedCall<LockedMethod> call;
    private final LongSupplier nanoTime;

    /** When it asked for the first lock. */
    private @Nullable Long began;

    OpenCall(AnnotatedCall<LockedMethod> call, LongSupplier nanoTime) {
        this.call = call;
        this.nanoTime = nanoTime;
    }

    /** What is left of the wait time for the next lock. Several keys share one. */
    Duration timeLeft() {
        long now = nanoTime.getAsLong();
        if (began == null) {
            began = now;
        }
        Duration left = method().waitTime().minusNanos(now - began);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Whether something else than the exception follows a refusal. */
    boolean goesOnWithoutLock() {
        return method().skips() || method().fallback() != null;
    }

    /**
     * What happens after a refusal, when the locks of the other keys have been released.
     *
     * @param name that of the method, for the log
     */
    Callable<@Nullable Object> withoutLock(String name, LockNotAcquiredException refusal) {
        FallbackMethod fallback = method().fallback();
        if (fallback == null) {
            log.debug("Skipped " + name + ": " + refusal.getMessage());
            return method().result()::skipped;
        }
        log.debug("Called " + fallback.method().getName() + " instead of " + name + ": " + refusal.getMessage());
        return () -> fallback.run(call.invocation(), refusal);
    }

    private LockedMethod method() {
        return call.method();
    }
}
