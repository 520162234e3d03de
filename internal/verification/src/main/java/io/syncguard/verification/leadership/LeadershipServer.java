package io.syncguard.verification.leadership;

import io.syncguard.testing.ServerProxy;
import java.io.IOException;
import java.nio.file.Path;

/** The server in which the members of a run keep their lock. */
interface LeadershipServer extends AutoCloseable {

    /** Makes the server of a run. */
    @FunctionalInterface
    interface Starter {

        /** @param directory for files, which is deleted after a run that found nothing */
        LeadershipServer start(Path directory) throws IOException;
    }

    /** A separate URL of the server. */
    ServerProxy newProxy();

    /** How many live members wait to lead. */
    int waiters();

    /** Ends the server. It keeps everything that it has answered. */
    void stop();

    /** Starts it again. */
    void start();

    @Override
    void close() throws IOException;
}
