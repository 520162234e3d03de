package io.syncguard.testing;

import java.time.Duration;

/** Stands between a client and a test server, and simulates faults of a network. */
public interface ServerProxy extends AutoCloseable {

    /** The URL of the server as seen through this proxy. */
    String url();

    /** The connections of all clients. */
    TcpProxy connections();

    /** Sends new connections to another server. */
    default void moveTo(int port) {
        connections().moveTo(port);
    }

    /** Drops all answers from now on, like a network without a route. Neither side gets an error. */
    default void fallSilent() {
        connections().fallSilent();
    }

    /** Ends the silence. The dropped answers and the connections that waited for them stay lost. */
    default void speakAgain() {
        connections().speakAgain();
    }

    /** Delays each answer by this time from now on. */
    default void delayAnswers(Duration delay) {
        connections().delayAnswers(delay);
    }

    /**
     * Holds back the next request that contains these words, and disconnects its client, which gets an error at once.
     * The server receives nothing.
     */
    default void keepBack(String words) {
        connections().keepBack(words);
    }

    /** Sends the request that was held back to the server. */
    default void letThrough() {
        connections().letThrough();
    }

    /** Cuts all connections. */
    default void cut() {
        connections().cut();
    }

    /** Resets all connections: the client reads an error, not an end. */
    default void reset() {
        connections().reset();
    }

    @Override
    default void close() {
        connections().close();
    }
}
