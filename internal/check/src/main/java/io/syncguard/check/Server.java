package io.syncguard.check;

import java.util.List;

/** A server that is checked. */
interface Server extends AutoCloseable {

    /** The product and its version, without the address. */
    String product();

    /** What no report may have: address, user, password. */
    List<String> secrets();

    /** Looks at versions, settings, rights and messages. Changes nothing. */
    List<Finding> look();

    /**
     * Makes an area for the locks of this check, which nobody else uses.
     *
     * @throws RuntimeException if the server or the rights of the user do not allow it
     */
    Area newArea();

    /** What an administrator enters for a user who lacks the rights of {@link #newArea}. */
    String rightsOfAreas();

    /** Whether the last look saw a message arrive, or the store needs none. */
    boolean deliversWakeUps();

    /** Measures one round trip to the server in nanoseconds. */
    long roundTrip();

    /** The times of the benchmarks, on one machine with two cores. */
    Times.Benchmark benchmark();

    /** The clock of the server in milliseconds. */
    long clockMillis();

    @Override
    void close();
}
