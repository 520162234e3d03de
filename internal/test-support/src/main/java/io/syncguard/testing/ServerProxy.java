package io.syncguard.testing;

import java.time.Duration;

/** Stands between a client and a test server, and simulates faults of a network. */
public interface ServerProxy extends AutoCloseable {

    /** The URL of the server as seen through this proxy. */
    String url();

    /** Drops all answers from now on, like a network without a route. Neither side gets an error. */
    void fallSilent();

    /** Ends the silence. The dropped answers and the connections that waited for them stay lost. */
    void speakAgain();

    /** Delays each answer by this time from now on. */
    void delayAnswers(Duration delay);

    /**
     * Holds back the next request that contains these words, and disconnects its client, which gets an error at once.
     * The server receives nothing.
     */
    void keepBack(String words);

    /** Sends the request that was held back to the server. */
    void letThrough();

    /** Cuts all connections. */
    void cut();

    /** Resets all connections: the client reads an error, not an end. */
    void reset();

    @Override
    void close();
}
