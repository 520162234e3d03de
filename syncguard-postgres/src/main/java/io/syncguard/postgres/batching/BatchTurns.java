package io.syncguard.postgres.batching;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The turns of the requests of each key, in the order of their arrival. A request without a key has its turn at once.
 * Guarded by the lock of the {@link Batcher}.
 */
final class BatchTurns<Q, A> {

    /** Of each key that has a request with its turn: the requests behind that one. */
    private final Map<Object, Deque<BatchedCall<Q, A>>> behind = new HashMap<>();

    /**
     * Of a request that has arrived. One that shares a batch has no turn of its own; it only waits for others.
     *
     * @return whether it may be sent; otherwise {@link #pass} returns it later
     */
    boolean take(BatchedCall<Q, A> call) {
        return take(call, !call.sharesBatch);
    }

    /**
     * Of a request that is about to be sent alone.
     *
     * @return whether it may be; otherwise {@link #pass} returns it later
     */
    boolean takeAlone(BatchedCall<Q, A> call) {
        return call.hasTurn || take(call, true);
    }

    private boolean take(BatchedCall<Q, A> call, boolean ownTurn) {
        Object key = call.key;
        if (key == null) {
            return true;
        }
        Deque<BatchedCall<Q, A>> others = behind.get(key);
        if (others != null) {
            others.add(call);
            return false;
        }
        if (ownTurn) {
            give(call, key, new ArrayDeque<>(1));
        }
        return true;
    }

    private void give(BatchedCall<Q, A> call, Object key, Deque<BatchedCall<Q, A>> others) {
        behind.put(key, others);
        call.hasTurn = true;
    }

    /**
     * Ends the turn of a request, or takes it from those that wait for theirs.
     *
     * @return the requests that may be sent now: those that share a batch, and the first that gets the turn
     */
    List<BatchedCall<Q, A>> pass(BatchedCall<Q, A> call) {
        Object key = call.key;
        Deque<BatchedCall<Q, A>> others = key == null ? null : behind.get(key);
        if (key == null || others == null) {
            return List.of();
        }
        if (!call.hasTurn) {
            others.remove(call);
            return List.of();
        }
        call.hasTurn = false;
        behind.remove(key);
        List<BatchedCall<Q, A>> next = new ArrayList<>();
        while (!others.isEmpty() && !behind.containsKey(key)) {
            BatchedCall<Q, A> other = others.remove();
            if (!other.sharesBatch) {
                give(other, key, others);
            }
            next.add(other);
        }
        return next;
    }
}
