package io.syncguard.benchmarks;

/** A contender that can wait for a key. */
interface WaitingContender extends Contender {

    @Override
    default void pair(String key) throws Exception {
        await(key, () -> {});
    }

    /** Waits for the key without a limit, and runs the body under the lock. */
    void await(String key, Runnable body) throws Exception;
}
