package io.syncguard.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request of an {@link AsyncBatcher}. A caller leaves by cancelling its answer.
 *
 * @param <Q> the request
 * @param <A> its answer
 */
final class BatchedReply<Q, A> extends CompletableFuture<A> {

    private static final Runnable NOT_SENT = () -> {};

    private final Q request;

    /** The action to run when the caller leaves; set once, by the batch or by the caller. {@code null} in the queue. */
    private final AtomicReference<@Nullable Runnable> whenLeft = new AtomicReference<>();

    BatchedReply(Q request) {
        this.request = request;
    }

    Q request() {
        return request;
    }

    /** @return whether the caller is still there, so that the request is sent */
    boolean joins(Runnable whenCallerLeaves) {
        return whenLeft.compareAndSet(null, whenCallerLeaves);
    }

    /** Whether the store may have received the request. Does not change once the caller has left. */
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
