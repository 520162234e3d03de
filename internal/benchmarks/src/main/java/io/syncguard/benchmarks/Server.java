package io.syncguard.benchmarks;

import java.io.IOException;

/** What the contenders of a measurement have in common. */
interface Server extends AutoCloseable {

    /** The product and its settings. */
    String description();

    /** The operating system's number of the process whose descendants, if it has any, are the rest of the server. */
    long processId();

    /** Makes a separate database for a contender, with its tables. */
    String newDatabase(Peer peer);

    @Override
    void close() throws IOException;
}
