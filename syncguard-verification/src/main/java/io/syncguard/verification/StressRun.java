package io.syncguard.verification;

import static java.util.function.Predicate.not;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.ThreadShortage;
import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Lease;
import io.syncguard.verification.HistoryEvent.Outcome;
import io.syncguard.verification.StressServer.Disturbance;
import io.syncguard.verification.StressServer.Surroundings;
import io.syncguard.verification.StressStore.Live;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * One run: starts workers, disturbs them and the server until the time is over, reads what is left in the store, and
 * checks the history.
 */
final class StressRun {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    /** No worker is killed this shortly before the end: a new one would start too late. */
    private static final long RESTART_NANOS = 5 * SECOND;

    /**
     * The waiter ttl of each worker. A waiter accepts a hand-over if its ttl is not shorter: with these values all but
     * the shortest leases do, most do, and none does. A short waiter ttl ends the first leases of paused and killed
     * workers soon. No ttl of a lease equals one of these.
     */
    static final List<Duration> WAITER_TTLS =
            List.of(Duration.ofMillis(290), Duration.ofMillis(790), PostgresSettings.WAITER_TTL);

    private final StressSettings settings;
    private final Random random;
    private final Path directory;
    private final HikariDataSource dataSource = new HikariDataSource();
    private final StressDatabase database = new StressDatabase(new JdbcTemplate(dataSource));
    private final StressServer server;
    private final List<WorkerProcess> workers = new ArrayList<>();
    private final List<WorkerProcess> all = new ArrayList<>();
    private final HistoryRecorder recorder;

    /** Written by the thread that starts the run, read by the threads that disturb it. */
    private volatile long end;

    StressRun(StressSettings settings, StressServer.Starter starter) throws IOException {
        this.settings = settings;
        this.random = new Random(settings.seed());
        this.directory = settings.newDirectory("stress");
        this.recorder = new HistoryRecorder("test", directory.resolve("test.history"));
        String url = PostgresServer.newDatabaseUrl();
        dataSource.setJdbcUrl(url);
        dataSource.addDataSourceProperty("ApplicationName", PostgresFaults.APPLICATION_NAME);
        database.create();
        this.server = starter.start(new Surroundings(url, dataSource, directory));
    }

    StressReport run() throws Exception {
        for (int i = 0; i < settings.workers(); i++) {
            workers.add(start(i, 1));
        }
        long began = System.nanoTime();
        for (WorkerProcess worker : workers) {
            worker.awaitReady();
        }
        end = System.nanoTime() + settings.seconds() * SECOND;
        for (WorkerProcess worker : workers) {
            worker.workUntil(end);
        }
        disturb();
        boolean peaceful = true;
        for (WorkerProcess worker : workers) {
            peaceful &= worker.awaitEnd();
        }
        recordWhatIsLeft();
        recorder.close();
        return judge(peaceful, System.nanoTime() - began);
    }

    private WorkerProcess start(int index, int incarnation) {
        WorkerProcess worker = new WorkerProcess(
                "w" + index + "." + incarnation,
                server.url(index),
                server.properties(index),
                directory,
                random.nextLong(),
                settings.clients(),
                WAITER_TTLS.get(index % WAITER_TTLS.size()));
        all.add(worker);
        return worker;
    }

    private void disturb() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> disturbing = new ArrayList<>();
            for (Disturbance each : server.disturbances(recorder, new Random(random.nextLong()))) {
                disturbing.add(threads.submit(untilTheEnd(each)));
            }
            disturbProcesses();
            for (Future<?> each : disturbing) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private Callable<Void> untilTheEnd(Disturbance disturbance) {
        return () -> {
            while (System.nanoTime() < end) {
                disturbance.action().run();
                LockSupport.parkNanos(disturbance.pauseMillis() * MILLI);
            }
            return null;
        };
    }

    private void disturbProcesses() throws Exception {
        for (int round = 0; System.nanoTime() < end - SECOND; round++) {
            int index = random.nextInt(workers.size());
            if (round % 4 == 1 && end - System.nanoTime() > RESTART_NANOS) {
                killAndRestart(index);
            } else if (round % 4 == 2 && ThreadShortage.isPossible()) {
                takeAndGiveThreads(workers.get(index));
            } else {
                pauseAndResume(workers.get(index));
            }
            LockSupport.parkNanos(300 * MILLI);
        }
    }

    private void killAndRestart(int index) throws Exception {
        WorkerProcess victim = workers.get(index);
        HistoryEvent killed = HistoryEvent.of(
                Kind.PROCESS_ENDED, new HistoryEvent.Source(victim.name(), "killed", 0), "", "", System.nanoTime());
        victim.kill();
        recorder.write(killed.answered(System.nanoTime(), Outcome.OK));
        int incarnation = Integer.parseInt(victim.name().substring(victim.name().indexOf('.') + 1)) + 1;
        WorkerProcess successor = start(index, incarnation);
        workers.set(index, successor);
        successor.awaitReady();
        successor.workUntil(end);
    }

    private void takeAndGiveThreads(WorkerProcess worker) throws Exception {
        worker.takeThreads();
        LockSupport.parkNanos((200 + random.nextInt(1500)) * MILLI);
        worker.giveThreads();
    }

    /** Pauses for less than most leases, or for longer than all leases and the tolerance. */
    private void pauseAndResume(WorkerProcess worker) throws Exception {
        worker.pause();
        LockSupport.parkNanos((random.nextBoolean() ? 50 + random.nextInt(300) : 1200 + random.nextInt(1300)) * MILLI);
        worker.resume();
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
        List<Path> files = Stream.concat(
                        all.stream().map(WorkerProcess::history), Stream.of(directory.resolve("test.history")))
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
                        ? complaints()
                        : Stream.concat(Stream.of("a worker did not end"), complaints().stream())
                                .toList());
    }

    /** What workers printed except that they are ready: errors of the library, and unexpected failures of clients. */
    private List<String> complaints() {
        return all.stream()
                .flatMap(worker -> {
                    try {
                        return Files.readAllLines(worker.log()).stream();
                    } catch (IOException ex) {
                        return Stream.of(ex.toString());
                    }
                })
                .filter(not(line -> line.startsWith(StressWorker.READY)))
                .filter(line -> line.contains("ERROR") || line.contains(StressClient.UNEXPECTED))
                .toList();
    }

    /** Ends the processes that still run. */
    void stop() throws InterruptedException {
        for (WorkerProcess worker : all) {
            worker.kill();
        }
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
