package io.syncguard.jdbc;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The keys for which requests of this process were not granted lately: guesses that save the server steps. A
 * wrong one costs time only. A key is forgotten when another one needs its place. Thread-safe.
 */
public final class ContendedKeys {

    /** @param isAwaited whether a request has queued since the last release */
    private record Contended(String key, boolean isAwaited) {}

    private final AtomicReferenceArray<@Nullable Contended> keys = new AtomicReferenceArray<>(1024);

    public void queued(String key) {
        keys.set(place(key), new Contended(key, true));
    }

    /** A request was not granted the key, and the next release finds no waiter that it may hand the key to. */
    public void taken(String key) {
        if (!isContended(key)) {
            keys.set(place(key), new Contended(key, false));
        }
    }

    /** A request was granted the key at once. */
    public void free(String key) {
        if (isContended(key)) {
            keys.set(place(key), null);
        }
    }

    /** Returns whether the key probably has a holder or waiters. */
    public boolean isContended(String key) {
        Contended last = keys.get(place(key));
        return last != null && last.key.equals(key);
    }

    /**
     * Returns whether the release of the key probably finds a waiter. The next one does not, unless a request queues.
     */
    public boolean released(String key) {
        Contended last = keys.get(place(key));
        if (last == null || !last.key.equals(key)) {
            return false;
        }
        keys.set(place(key), last.isAwaited ? new Contended(key, false) : null);
        return last.isAwaited;
    }

    private int place(String key) {
        int hash = key.hashCode();
        return (hash ^ hash >>> 16) & keys.length() - 1;
    }
}
