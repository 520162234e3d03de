package io.syncguard.spi;

/**
 * Receives what happens to the waiters of this process. Each method returns at once.
 */
public interface WakeUpListener {

    /** The waiter with this number may be granted the key now. An unknown number does no harm. */
    void wake(long waiter);

    /**
     * A release has granted the key to the waiter with this number. An unknown number does no harm: the waiter has left
     * and given the grant back, or its next request finds the grant.
     */
    void handOver(long waiter, AcquireResult.Granted grant);

    /** Wake-ups may have been lost: every waiter has to try again. */
    void wakeUpsMissed();
}
