package io.syncguard.verification.queue;

import java.util.Collection;

/** A server for the locks of several processes, to which the test has direct access. */
public interface QueueServer extends AutoCloseable {

    /** The URL for the processes. */
    String url();

    /** The number of waiters of the key. */
    int waiters(String key);

    /** The number of requests that the server has answered. */
    long requests();

    /** The number of wake-ups that the server has sent. */
    long wakeUps();

    /** The lock ids of all leases and queue entries. */
    Collection<String> lockIds();

    /** Ends the connection on which one of the processes receives wake-ups. */
    void endListener();

    @Override
    void close();
}
