package io.syncguard.verification;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.testing.PostgresServer;
import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Lease;
import io.syncguard.verification.HistoryEvent.Outcome;
import io.syncguard.verification.StressServer.Surroundings;
import io.syncguard.verification.StressStore.Live;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * One run: starts workers, disturbs them and the server until the time is over, reads what is left in the store, and
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
        this.settings = settings;
        this.directory = settings.newDirectory("stress");
        this.recorder = new HistoryRecorder("test", directory.resolve("test.history"));
        String url = PostgresServer.newDatabaseUrl();
        dataSource.setJdbcUrl(url);
        dataSource.addDataSourceProperty("ApplicationName", PostgresFaults.APPLICATION_NAME);
        database.create();
        this.server = starter.start(new Surroundings(url, dataSource, directory));
        Random random = new Random(settings.seed());
        this.fleet = new WorkerFleet(server, directory, settings.clients(), random);
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
        recordWhatIsLeft();
        recorder.close();
        return judge(peaceful, System.nanoTime() - began);
    }

    /** The end of the history: the counters, and what is live. */
    private void recordWhatIsLeft() {
        HistoryEvent looked = recorder.begin(Kind.LOOKUP, "end", "", "");
        Map<String, List<Live>> live = server.store().liveLeases().stream()
                .collect(Collectors.groupingBy(lease -> lease.lock().key()));
        long now = System.nanoTime();
        server.store().counters().forEach((key, fence) -> {
            recorder.write(recorder.begin(Kind.COUNTER, "end", key, "")
                    .answered(now, Outcome.OK)
                    .with(Lease.ofFence(fence)));
            if (!live.containsKey(key)) {
                recorder.write(lookupOf(key, looked).answered(now, Outcome.NOT_HELD));
            }
            live.getOrDefault(key, List.of())
                    .forEach(lease -> recorder.write(lookupOf(key, looked)
                            .answered(now, Outcome.OK)
                            .ofLock(HistoryRecorder.hash(lease.lock().lockId()))
                            .with(lease.lease())));
        });
    }

    private HistoryEvent lookupOf(String key, HistoryEvent looked) {
        HistoryEvent lookup = recorder.begin(Kind.LOOKUP, "end", key, "");
        return HistoryEvent.of(Kind.LOOKUP, lookup.source(), key, "", looked.start());
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
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
