package io.syncguard.leader;

/**
 * Ends what was registered with a member. Thread-safe.
 */
@FunctionalInterface
public interface LeaderRegistration extends AutoCloseable {

    /** Does not wait for what is still running. */
    @Override
    void close();
}
