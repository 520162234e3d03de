package io.syncguard.verification.queue;

import java.util.Collection;

/** A server for the locks of several processes, to which the test has direct access. */
public interface QueueServer extends AutoCloseable {

    /** The URL for the processes. */
    String url();

    /** The number of waiters of the key. */
    int waiters(String key);

    /** The lock ids of all leases and queue entries. */
    Collection<String> lockIds();

    /** Ends the connection on which one of the processes receives wake-ups. */
    void endListener();

    @Override
    void close();
}
