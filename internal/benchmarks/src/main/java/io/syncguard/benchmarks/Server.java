package io.syncguard.benchmarks;

import java.io.IOException;

/** The server that all contenders of a measurement share. */
interface Server extends AutoCloseable {

    /** The product and its settings. */
    String description();

    /** The process id of the server. Its other processes, if any, are descendants of this one. */
    long processId();

    /** Creates a separate database for a contender, with its tables. */
    String newDatabase(Peer peer);

    @Override
    void close() throws IOException;
}
