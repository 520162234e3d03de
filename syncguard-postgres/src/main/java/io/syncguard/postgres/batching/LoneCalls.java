package io.syncguard.postgres.batching;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The requests of a {@link Batcher} that were sent alone and count as statements under way. Guarded by the lock of the
 * batcher.
 */
final class LoneCalls<Q, A> {

    /** Longer than most statements, short against the patience of people. */
    static final long PATIENCE_MILLIS = 5;

    private static final long PATIENCE_NANOS =
            Duration.ofMillis(PATIENCE_MILLIS).toNanos();

    /** The oldest first. */
    private final Deque<BatchedCall<Q, A>> calls = new ArrayDeque<>();

    void add(BatchedCall<Q, A> call, long sentAt) {
        call.sentAt = sentAt;
        calls.add(call);
    }

    void remove(BatchedCall<Q, A> call) {
        calls.remove(call);
    }

    int size() {
        return calls.size();
    }

    /** When the oldest may be ignored. {@link Time#NEVER} without calls. */
    long patienceEndsAt() {
        return calls.isEmpty() ? Time.NEVER : calls.element().sentAt + PATIENCE_NANOS;
    }

    void ignoreOldest() {
        calls.remove();
    }
}
