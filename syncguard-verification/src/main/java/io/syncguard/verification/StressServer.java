package io.syncguard.verification;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import javax.sql.DataSource;

/** The server in which the locks of a run are kept: how its processes get there, and what disturbs them. */
interface StressServer extends AutoCloseable {

    /** Makes the server of a run. */
    @FunctionalInterface
    interface Starter {
        StressServer start(Surroundings surroundings);
    }

    /**
     * What a run has beside the locks.
     *
     * @param url of the database in which the applications work
     * @param dataSource connections to it for the test
     * @param directory for files, which is deleted after a run that found nothing
     */
    record Surroundings(String url, DataSource dataSource, Path directory) {}

    /** Where a process finds it. Every other process is on a way that is disturbed, too. */
    String url(int process);

    /** What a process has to be told beside that, so that its locks are there. */
    List<String> properties(int process);

    /** A look at what is kept, on a way that is not disturbed. */
    StressStore store();

    /** What is to happen again and again until the end, each in a thread of its own. */
    List<Disturbance> disturbances(HistoryRecorder recorder, Random random);

    /** Kinds and outcomes of what happens at this server and not at each. */
    Set<String> ownEvents();

    @Override
    void close();

    /**
     * @param pauseMillis between two
     * @param action writes down whatever it does to a lease
     */
    record Disturbance(int pauseMillis, Runnable action) {}
}
