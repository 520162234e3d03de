package io.syncguard.core;

/**
 * Whom a backend tells what happens to the callers of this process who wait. Returns at once.
 */
public interface WakeUps {

    /** The caller of this number may be able to go on. A number that nobody has any more does no harm. */
    void wake(long waiter);

    /**
     * A release has granted the key to the caller of this number. A number that nobody has any more does no harm: its caller has
     * given up the place, and the grant with it, or finds the grant by its next claim.
     */
    void handOver(long waiter, Attempt.Grant grant);

    /** Wake-ups may have been lost: everybody who waits has to be looked at. */
    void lookAtAll();
}
