package io.syncguard.benchmarks;

import java.io.IOException;

/** What the contenders of a measurement have in common. */
interface Server extends AutoCloseable {

    /** What it is and how it is set. */
    String description();

    /** Makes a database of its own for a contender, with what it needs in there. */
    String newDatabase(Peer peer);

    @Override
    void close() throws IOException;
}
