package io.syncguard.spi;

/**
 * Receives the wake-ups for the waiters of this process. Each method returns at once.
 */
public interface WakeUpListener {

    /** The waiter with this number may be granted the key now. An unknown number is ignored. */
    void wake(long waiterNumber);

    /**
     * A release has granted the key to the waiter with this number. An unknown number is ignored: the waiter has left
     * and released the grant, or its next request finds the grant.
     */
    void handOver(long waiterNumber, AcquireResult.Granted grant);

    /** Wake-ups may have been lost: every waiter has to try again. */
    void wakeUpsMissed();
}
