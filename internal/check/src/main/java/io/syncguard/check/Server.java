package io.syncguard.check;

import java.util.List;

/** A server that is checked. */
interface Server extends AutoCloseable {

    /** The product and its version, without the address. */
    String product();

    /** Looks at versions, settings, rights and messages. Changes nothing. */
    List<Finding> look();

    /** Makes an area for the locks of this check, which nobody else uses. */
    Area newArea();

    /** Measures one round trip to the server in nanoseconds. */
    long roundTrip();

    /** The clock of the server in milliseconds. */
    long clockMillis();

    @Override
    void close();
}
