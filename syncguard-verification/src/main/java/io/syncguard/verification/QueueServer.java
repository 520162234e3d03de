package io.syncguard.verification;

import java.util.Collection;

/** A server for the locks of several processes, and what a test has to see and to do there. */
interface QueueServer extends AutoCloseable {

    /** Where the processes find it. */
    String url();

    /** How many wait for the key. */
    int places(String key);

    /** Of all leases and of all who wait. */
    Collection<String> lockIds();

    /** Ends the connection on which one of the processes hears of wake-ups. */
    void endListener();

    @Override
    void close();
}
