package io.syncguard.verification.stress;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.PostgresServer;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.history.History;
import io.syncguard.verification.history.HistoryChecker;
import io.syncguard.verification.history.Violation;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.LastLook;
import io.syncguard.verification.stress.StressServer.Surroundings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * One run. It starts workers, disturbs them and the server until the time is over, reads the rest of the store, and
 * checks the history.
 */
final class StressRun {

    private static final long SECOND = 1_000_000_000;

    private final StressSettings settings;
    private final Path directory;
    private final HikariDataSource dataSource = new HikariDataSource();
    private final StressDatabase database = new StressDatabase(new JdbcTemplate(dataSource));
    private final StressServer server;
    private final WorkerFleet fleet;
    private final HistoryRecorder recorder;
    private final StressDisturber disturber;

    StressRun(StressSettings settings, StressServer.Starter starter) throws IOException {
        this(settings, starter, Bug.NONE);
    }

    /** @param bug the bug of the workers */
    StressRun(StressSettings settings, StressServer.Starter starter, Bug bug) throws IOException {
        this.settings = settings;
        this.directory = settings.newDirectory("stress");
        this.recorder = new HistoryRecorder("test", directory.resolve("test.history"));
        String url = PostgresServer.newDatabaseUrl();
        dataSource.setJdbcUrl(url);
        dataSource.addDataSourceProperty("ApplicationName", PostgresFaults.APPLICATION_NAME);
        database.create();
        this.server = starter.start(new Surroundings(url, dataSource, directory));
        Random random = new Random(settings.seed());
        this.fleet = new WorkerFleet(server, directory, settings.clients(), bug, random);
        this.disturber = new StressDisturber(server, fleet, recorder, random);
    }

    StressReport run() throws Exception {
        fleet.start(settings.workers());
        long began = System.nanoTime();
        fleet.awaitReady();
        long end = System.nanoTime() + settings.seconds() * SECOND;
        fleet.workUntil(end);
        disturber.disturbUntil(end);
        boolean peaceful = fleet.awaitEnd();
        LastLook.record(server.store(), recorder);
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
        return new StressReport(
                settings,
                violations,
                history.counts(),
                history.operations(),
                elapsed / SECOND,
                (System.nanoTime() - checkedFrom) / SECOND,
                database.effects(),
                database.lateEffects(true),
                database.lateEffects(false),
                server.store().withoutEnd(),
                peaceful
                        ? fleet.complaints()
                        : Stream.concat(Stream.of("a worker did not end"), fleet.complaints().stream())
                                .toList());
    }

    /** Ends the processes that still run. */
    void stop() throws InterruptedException {
        fleet.kill();
        server.close();
        dataSource.close();
    }

    /** The events that the history of each run on this server must contain. */
    Set<String> ownEvents() {
        return server.ownEvents();
    }

    /** Deletes the files of a run without a violation. */
    void deleteFiles() throws IOException {
        FileSystemUtils.deleteRecursively(directory);
    }
}
