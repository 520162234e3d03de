package io.syncguard.benchmarks;

/** A lock implementation on a separate database. Thread-safe. */
interface Contender extends AutoCloseable {

    /** Acquires a free key and releases it. */
    default void pair(String key) throws Exception {
        if (!attempt(key, () -> {})) {
            throw new IllegalStateException("Refused on a free key: " + key);
        }
    }

    /** Makes one attempt, and runs the body under the lock if it is granted. */
    boolean attempt(String key, Runnable body) throws Exception;

    @Override
    void close();
}
