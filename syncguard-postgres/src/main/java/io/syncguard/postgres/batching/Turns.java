package io.syncguard.postgres.batching;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * For each busy key, the requests that wait for the statement under way. Only one statement of a {@link Batcher} at a
 * time has requests of a key. Guarded by the lock of the batcher.
 */
final class Turns<Q, A> {

    private record Turn<Q, A>(boolean inBatch, SortedSet<BatchedCall<Q, A>> behind) {}

    private final Map<Object, Turn<Q, A>> turns = new HashMap<>();

    /**
     * Queues a request if a statement has its key, and returns whether it did. {@link #end} returns the request later.
     */
    boolean queue(BatchedCall<Q, A> call) {
        Turn<Q, A> turn = turns.get(call.key);
        return turn != null && turn.behind.add(call);
    }

    /** Begins a turn: a statement gets this key, perhaps from another one. */
    void begin(Object key, boolean inBatch) {
        Turn<Q, A> before = turns.get(key);
        turns.put(key, new Turn<>(inBatch, before == null ? new TreeSet<>() : before.behind));
    }

    /** @return the requests that waited for the key */
    SortedSet<BatchedCall<Q, A>> end(Object key) {
        Turn<Q, A> turn = turns.remove(key);
        return turn == null ? Collections.emptySortedSet() : turn.behind;
    }

    void withdraw(BatchedCall<Q, A> call) {
        Turn<Q, A> turn = turns.get(call.key);
        if (turn != null) {
            turn.behind.remove(call);
        }
    }

    /** Whether a batch has the key. Requests that it skips go before all others. */
    boolean isInBatch(Object key) {
        Turn<Q, A> turn = turns.get(key);
        return turn != null && turn.inBatch;
    }

    /** For each busy key, the waiting requests in the order of their arrival. */
    Stream<SortedSet<BatchedCall<Q, A>>> queues() {
        return turns.values().stream().map(Turn::behind);
    }
}
