package io.syncguard.concurrent;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The turns of the requests of each key, in the order of their arrival. A request without a key has its turn at once.
 * Guarded by the lock of the {@link Batcher}.
 */
final class BatchTurns<Q, A> {

    /** Of each key that has a request with its turn: the requests behind that one. */
    private final Map<Object, Deque<BatchedCall<Q, A>>> behind = new HashMap<>();

    /** @return whether it has its turn now; otherwise {@link #pass} returns it later */
    boolean take(BatchedCall<Q, A> call) {
        Object key = call.key;
        if (key == null) {
            return true;
        }
        Deque<BatchedCall<Q, A>> others = behind.get(key);
        if (others != null) {
            others.add(call);
            return false;
        }
        behind.put(key, new ArrayDeque<>(1));
        call.hasTurn = true;
        return true;
    }

    /**
     * Ends the turn of a request, or takes it from those that wait for theirs.
     *
     * @return the request that has its turn now
     */
    @Nullable
    BatchedCall<Q, A> pass(BatchedCall<Q, A> call) {
        Object key = call.key;
        Deque<BatchedCall<Q, A>> others = key == null ? null : behind.get(key);
        if (key == null || others == null) {
            return null;
        }
        if (!call.hasTurn) {
            others.remove(call);
            return null;
        }
        call.hasTurn = false;
        BatchedCall<Q, A> next = others.poll();
        if (next == null) {
            behind.remove(key);
        } else {
            next.hasTurn = true;
        }
        return next;
    }
}
