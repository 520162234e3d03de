package io.syncguard.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request of an {@link AsyncBatcher}. Its caller leaves by cancelling it.
 *
 * @param <Q> the request
 * @param <A> its answer
 */
final class BatchedReply<Q, A> extends CompletableFuture<A> {

    private static final Runnable NOT_SENT = () -> {};

    private final Q request;

    /** What to do when the caller leaves; set once, by the batch or by the caller. {@code null} in the queue. */
    private final AtomicReference<@Nullable Runnable> whenLeft = new AtomicReference<>();

    BatchedReply(Q request) {
        this.request = request;
    }

    Q request() {
        return request;
    }

    /** @return whether its caller has not left, so that it is sent */
    boolean joins(Runnable whenCallerLeaves) {
        return whenLeft.compareAndSet(null, whenCallerLeaves);
    }

    /** Whether the store may have received it. Does not change once the caller has left. */
    boolean wasSent() {
        Runnable action = whenLeft.get();
        return action != null && action != NOT_SENT;
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        boolean left = super.cancel(mayInterrupt);
        if (left && !whenLeft.compareAndSet(null, NOT_SENT)) {
            Runnable action = whenLeft.get();
            if (action != null) {
                action.run();
            }
        }
        return left;
    }
}
