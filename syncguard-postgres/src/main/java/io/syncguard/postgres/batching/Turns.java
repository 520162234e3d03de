package io.syncguard.postgres.batching;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The keys whose requests are under way, and the requests that wait for them: one statement of a {@link Batcher} has a
 * key at a time. The lock of the batcher guards it.
 */
final class Turns<Q, A> {

    private record Turn<Q, A>(boolean inBatch, SortedSet<BatchedCall<Q, A>> behind) {}

    private final Map<Object, Turn<Q, A>> turns = new HashMap<>();

    /** Lets a request wait if a statement has its key. {@link #end} returns it then. */
    boolean queue(BatchedCall<Q, A> call) {
        Turn<Q, A> turn = turns.get(call.key);
        return turn != null && turn.behind.add(call);
    }

    /** A statement gets this key, or passes it on to another one. */
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

    /** Whether a batch has the key. It may skip requests, which are in front of all others then. */
    boolean isInBatch(Object key) {
        Turn<Q, A> turn = turns.get(key);
        return turn != null && turn.inBatch;
    }

    /** For each key, those that wait for it, in the order of their arrival. */
    Stream<SortedSet<BatchedCall<Q, A>>> queues() {
        return turns.values().stream().map(Turn::behind);
    }
}
