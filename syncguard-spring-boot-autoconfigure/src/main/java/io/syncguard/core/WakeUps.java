package io.syncguard.core;

/**
 * Whom a backend tells what happens to the callers of this process who wait. Returns at once.
 */
public interface WakeUps {

    /** The caller of this number may be able to go on. Says nothing to a number that nobody has any more. */
    void wake(long waiter);

    /** Wake-ups may have been lost: everybody who waits has to be looked at. */
    void lookAtAll();
}
