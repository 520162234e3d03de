package io.syncguard.verification.leadership;

import io.syncguard.testing.ServerProxy;
import java.io.IOException;
import java.nio.file.Path;

/** The server in which the members of a run keep their lock. */
interface LeadershipServer extends AutoCloseable {

    /** Starts the server of a run. */
    @FunctionalInterface
    interface Starter {

        /** @param directory for files; deleted after a run without violations */
        LeadershipServer start(Path directory) throws IOException;
    }

    /** A new proxy, with a separate URL of the server. */
    ServerProxy newProxy();

    /** The number of live members that wait to lead. */
    int waiters();

    /** Stops the server. It keeps all answered writes. */
    void stop();

    /** Starts it again. */
    void start();

    @Override
    void close() throws IOException;
}
