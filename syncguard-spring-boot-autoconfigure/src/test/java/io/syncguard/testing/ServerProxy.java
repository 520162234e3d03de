package io.syncguard.testing;

import java.time.Duration;

/** Stands between a client and a test server, and does what networks do. */
public interface ServerProxy extends AutoCloseable {

    /** The URL of the server as seen through this proxy. */
    String url();

    /** Swallows all answers from now on, as a network does that has lost the way. Nobody is told. */
    void fallSilent();

    /** Ends the silence. What was swallowed stays lost, and so do the connections that waited for it. */
    void speakAgain();

    /** Has each answer be so late, from now on. */
    void delayAnswers(Duration delay);

    /**
     * Keeps the next request with these words in it back and cuts its client off, which is told so at once. The server
     * is told nothing.
     */
    void keepBack(String words);

    /** Has the server be sent what was kept back. */
    void letThrough();

    /** Cuts all connections. */
    void cut();

    /** Resets all connections: the client reads an error, not an end. */
    void reset();

    @Override
    void close();
}
