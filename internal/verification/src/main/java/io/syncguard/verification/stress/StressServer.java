package io.syncguard.verification.stress;

import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.StressStore;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import javax.sql.DataSource;

/** The server with the locks of a run: the ways of the processes to it, and its faults. */
interface StressServer extends AutoCloseable {

    /** Makes the server of a run. */
    @FunctionalInterface
    interface Starter {
        StressServer start(Surroundings surroundings);
    }

    /**
     * What a run has in addition to the locks.
     *
     * @param url of the database in which the applications work
     * @param dataSource connections to it for the test
     * @param directory for files, which is deleted after a run that found nothing
     */
    record Surroundings(String url, DataSource dataSource, Path directory) {}

    /** The URL for a process. Every second process has a way that is disturbed, too. */
    String url(int process);

    /** The other properties of a process, so that its locks are on this server. */
    List<String> properties(int process);

    /** The stored data, on a way that is not disturbed. */
    StressStore store();

    /** The faults that repeat until the end, each on a separate thread. */
    List<Disturbance> disturbances(HistoryRecorder recorder, Random random);

    /** Kinds and outcomes of events that occur only on this server. */
    Set<String> ownEvents();

    @Override
    void close();

    /**
     * @param pauseMillis between two
     * @param action records each change of a lease
     */
    record Disturbance(int pauseMillis, Runnable action) {}
}
