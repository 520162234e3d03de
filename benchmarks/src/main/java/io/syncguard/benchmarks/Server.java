package io.syncguard.benchmarks;

import java.io.IOException;

/** What the contenders of a measurement have in common. */
interface Server extends AutoCloseable {

    /** The product and its settings. */
    String description();

    /** Makes a separate database for a contender, with its tables. */
    String newDatabase(Peer peer);

    @Override
    void close() throws IOException;
}
