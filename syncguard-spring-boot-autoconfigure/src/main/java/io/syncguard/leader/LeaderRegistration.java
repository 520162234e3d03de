package io.syncguard.leader;

/**
 * Takes back what was given to a member. Threads may share it.
 */
@FunctionalInterface
public interface LeaderRegistration extends AutoCloseable {

    /** Does not wait for what is still running. */
    @Override
    void close();
}
