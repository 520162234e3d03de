package io.syncguard.aop;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.concurrent.Time;
import io.syncguard.interception.AnnotatedCall;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One call of a locked method that waits for its locks. Knows how long the call may still wait, and what follows a
 * refusal. Used by one thread at a time.
 */
final class OpenCall {

    private static final Log log = LogFactory.getLog(OpenCall.class);

    private final AnnotatedCall<LockedMethod> call;

    /** When the call requested its first lock. */
    private @Nullable Long began;

    OpenCall(AnnotatedCall<LockedMethod> call) {
        this.call = call;
    }

    /** Returns the rest of the wait time. All keys of the call share one wait time. */
    Duration timeLeft() {
        long now = Time.SYSTEM.nanoTime();
        if (began == null) {
            began = now;
        }
        Duration left = method().waitTime().minusNanos(now - began);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Whether a refused call is skipped or runs its fallback, rather than throwing. */
    boolean continuesWithoutLock() {
        return method().skips() || method().fallback() != null;
    }

    /**
     * Returns what to run after a refusal, when the locks of the other keys have been released.
     *
     * @param name the name of the method, for the log
     */
    Callable<@Nullable Object> withoutLock(String name, LockNotAcquiredException refusal) {
        FallbackMethod fallback = method().fallback();
        if (fallback == null) {
            log.debug("Skipped " + name + ": " + refusal.getMessage());
            return method().result()::skipped;
        }
        log.debug("Called " + fallback.method().getName() + " instead of " + name + ": " + refusal.getMessage());
        return call.with(fallback.callAfter(call.invocation(), refusal))::proceed;
    }

    private LockedMethod method() {
        return call.method();
    }
}
