package io.syncguard.verification.stress;

import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.History;
import io.syncguard.verification.history.HistoryChecker;
import io.syncguard.verification.history.Violation;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.LastLook;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;

/**
 * One run. It starts workers, disturbs them and the server until the time is over, reads the rest of the store, and
 * checks the history.
 */
public final class StressRun {

    private static final long SECOND = 1_000_000_000;

    private final StressSettings settings;
    private final Path directory;
    private final @Nullable StressDatabase database;
    private final StressServer server;
    private final WorkerFleet fleet;
    private final HistoryRecorder recorder;
    private final StressDisturber disturber;

    /**
     * @param directory for the files of the run
     * @param database the data of the applications; null if they have locks only
     * @param properties of each worker, besides those of the server
     */
    public StressRun(
            StressSettings settings,
            Path directory,
            @Nullable StressDatabase database,
            StressServer server,
            List<String> properties) {
        this.settings = settings;
        this.directory = directory;
        this.database = database;
        this.server = server;
        this.recorder = new HistoryRecorder("test", directory.resolve("test.history"));
        Random random = new Random(settings.seed());
        this.fleet = new WorkerFleet(server, directory, settings.clients(), properties, random);
        this.disturber = new StressDisturber(server, fleet, recorder, random);
    }

    public StressReport run() throws Exception {
        fleet.start(settings.workers());
        long began = System.nanoTime();
        fleet.awaitReady();
        long end = System.nanoTime() + settings.seconds() * SECOND;
        fleet.workUntil(end);
        disturber.disturbUntil(end);
        boolean peaceful = fleet.awaitEnd();
        StressStore store = server.store();
        if (store != null) {
            LastLook.record(store, recorder);
        }
        recorder.close();
        return judge(peaceful, System.nanoTime() - began);
    }

    private StressReport judge(boolean peaceful, long elapsed) {
        List<Path> files = Stream.concat(fleet.histories(), Stream.of(directory.resolve("test.history")))
                .filter(Files::exists)
                .toList();
        History history = History.of(files, directory);
        List<Violation> violations = new ArrayList<>();
        long checkedFrom = System.nanoTime();
        history.forEachKey((key, events) -> violations.addAll(HistoryChecker.check(events, history.processes())));
        StressStore store = server.store();
        return new StressReport(
                settings,
                violations,
                history.counts(),
                history.operations(),
                elapsed / SECOND,
                (System.nanoTime() - checkedFrom) / SECOND,
                database == null ? 0 : database.effects(),
                database == null ? 0 : database.lateEffects(true),
                database == null ? 0 : database.lateEffects(false),
                store == null ? 0 : store.withoutEnd(),
                peaceful
                        ? fleet.complaints()
                        : Stream.concat(Stream.of("a worker did not end"), fleet.complaints().stream())
                                .toList());
    }

    /** Ends the processes that still run. */
    public void stop() throws InterruptedException {
        fleet.kill();
    }

    /** Deletes the files of a run without a violation. */
    public void deleteFiles() throws IOException {
        FileSystemUtils.deleteRecursively(directory);
    }
}
