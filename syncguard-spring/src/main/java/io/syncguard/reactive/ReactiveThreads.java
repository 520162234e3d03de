package io.syncguard.reactive;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandles;
import io.syncguard.LockLimits;
import io.syncguard.LockUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;

/**
 * The threads that call the manager for subscribers, and how many subscriptions may wait for a lock at a time. The
 * templates of an application share one instance. Thread-safe.
 *
 * <p>The limit counts only subscriptions that hold no other lock. A holder that waits for its next lock is never
 * refused, because the subscriptions that wait for its first lock need it to continue.
 */
public final class ReactiveThreads {

    private static final Log log = LogFactory.getLog(ReactiveThreads.class);

    private final Executor acquisitions;
    private final Executor releases;
    private final int maxWaiting;
    private final AtomicInteger waiting = new AtomicInteger();

    /** Whether a refusal was logged since at most half of the limit waited. */
    private final AtomicBoolean reported = new AtomicBoolean();

    /**
     * Neither executor may run a task on the calling thread, unless the manager never waits.
     *
     * @param acquisitions acquires locks; each subscription that waits for its lock blocks one thread
     * @param releases releases locks. It has no thread in common with {@code acquisitions}, or its number of threads is
     *     not limited. Otherwise releases queue behind the subscriptions that wait for them
     * @param maxWaiting how many subscriptions that hold no lock may wait for one at a time. Further ones fail at once
     *     with {@link LockErrorCode#RATE_LIMITED}
     */
    public ReactiveThreads(Executor acquisitions, Executor releases, int maxWaiting) {
        this.acquisitions = LockLimits.requireNonNull("executor of acquisitions", acquisitions);
        this.releases = LockLimits.requireNonNull("executor of releases", releases);
        this.maxWaiting = maxWaiting;
    }

    /** Whether the executor refuses acquisitions for ever, because the application has shut it down. */
    boolean haveEnded() {
        return acquisitions instanceof ExecutorService service && service.isShutdown();
    }

    Executor acquisitions() {
        return acquisitions;
    }

    /**
     * Counts a subscription that waits for this key.
     *
     * @return ends the wait; it may run several times
     * @throws LockUnavailableException when too many wait already
     */
    Runnable enter(String key) {
        int others = waiting.getAndUpdate(now -> Math.min(now + 1, maxWaiting));
        if (others >= maxWaiting) {
            throw refused(key);
        }
        AtomicBoolean waits = new AtomicBoolean(true);
        return () -> {
            if (waits.compareAndSet(true, false) && waiting.decrementAndGet() <= maxWaiting / 2) {
                reported.set(false);
            }
        };
    }

    /** Closes locks, also if the subscription is cancelled meanwhile. Fails after a loss. */
    Mono<Void> close(LockHandles locks) {
        return Mono.fromFuture(() -> release(locks::close), true);
    }

    /** Releases a lock in any case: if the executor refuses the task, the calling thread runs it. */
    private CompletableFuture<Void> release(Runnable release) {
        try {
            return CompletableFuture.runAsync(release, releases);
        } catch (RuntimeException | Error ex) {
            return CompletableFuture.runAsync(release, Runnable::run);
        }
    }

    /** Its caller holds no lock, so nothing was done under one. */
    private LockUnavailableException refused(String key) {
        String limit = maxWaiting + " reactive calls wait for locks, the limit of syncguard.reactive.max-waiting";
        if (reported.compareAndSet(false, true)) {
            log.warn(limit + ". Further ones are refused");
        }
        return new LockUnavailableException(
                LockErrorCode.RATE_LIMITED,
                limit + ". Lock '" + key + "' was not requested: let calls wait for a shorter time, or raise the limit",
                null);
    }
}
