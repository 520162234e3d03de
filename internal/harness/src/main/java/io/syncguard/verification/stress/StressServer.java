package io.syncguard.verification.stress;

import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.StressStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The server with the locks of a run: its URLs for the processes, and its faults. */
public interface StressServer extends AutoCloseable {

    /** Starts the server of a run. */
    @FunctionalInterface
    interface Starter {
        StressServer start(Surroundings surroundings);
    }

    /**
     * The database and the directory of a run.
     *
     * @param url the URL of the database in which the applications work
     * @param dataSource connections of the test to it
     * @param directory for files; deleted after a run without violations
     */
    record Surroundings(String url, DataSource dataSource, Path directory) {}

    /** Environment variables of a process, for what no other user of the machine may see. */
    default Map<String, String> environment(int process) {
        return Map.of();
    }

    /** The URL for a process. Every second one leads through a proxy, which is disturbed as well. */
    String url(int process);

    /** The other properties of a process, so that its locks are on this server. */
    List<String> properties(int process);

    /** The waiter ttls of the processes, in turn. */
    default List<Duration> waiterTtls() {
        return WorkerFleet.WAITER_TTLS;
    }

    /** The stored data, on a connection that is not disturbed; null if the run reads none. */
    @Nullable
    StressStore store();

    /** The faults that repeat until the end, each on a separate thread. */
    List<Disturbance> disturbances(HistoryRecorder recorder, Random random);

    /** Kinds and outcomes of events that occur only on this server. */
    Set<String> ownEvents();

    @Override
    void close();

    /**
     * @param pauseMillis pause between two disturbances
     * @param action records each change of a lease
     */
    record Disturbance(int pauseMillis, Runnable action) {}
}
