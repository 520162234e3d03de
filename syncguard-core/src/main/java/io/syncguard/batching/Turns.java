package io.syncguard.batching;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * For each busy key, the requests that wait for the statement under way. Only one statement of a {@link Batcher} at a
 * time has requests of a key. Guarded by the lock of the batcher.
 */
final class Turns<Q, A> {

    /** The busy keys, and whether a batch has each of them. */
    private final Map<Object, Boolean> busy = new HashMap<>();

    /** For some of them, the waiting requests in the order of their arrival. */
    private final Map<Object, SortedSet<BatchedCall<Q, A>>> behind = new HashMap<>();

    /**
     * Queues a request if a statement has its key, and returns whether it did. {@link #end} returns the request later.
     */
    boolean queue(BatchedCall<Q, A> call) {
        return busy.containsKey(call.key)
                && behind.computeIfAbsent(call.key, key -> new TreeSet<>()).add(call);
    }

    /** Begins a turn: a statement gets this key, perhaps from another one. */
    void begin(Object key, boolean inBatch) {
        busy.put(key, inBatch);
    }

    /** @return the requests that waited for the key */
    SortedSet<BatchedCall<Q, A>> end(Object key) {
        busy.remove(key);
        SortedSet<BatchedCall<Q, A>> waited = behind.remove(key);
        return waited == null ? Collections.emptySortedSet() : waited;
    }

    void withdraw(BatchedCall<Q, A> call) {
        SortedSet<BatchedCall<Q, A>> waiting = behind.get(call.key);
        if (waiting != null) {
            waiting.remove(call);
        }
    }

    /** Whether a batch has the key. Requests that it skips go before all others. */
    boolean isInBatch(Object key) {
        return busy.getOrDefault(key, false);
    }

    /** Returns the waiting requests of each busy key that has some. */
    Collection<SortedSet<BatchedCall<Q, A>>> queues() {
        return behind.values();
    }
}
