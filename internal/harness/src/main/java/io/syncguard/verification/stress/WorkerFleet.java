package io.syncguard.verification.stress;

import static java.util.function.Predicate.not;

import io.syncguard.postgres.PostgresSettings;
import io.syncguard.verification.WorkerProcess;
import io.syncguard.verification.WorkerProcess.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** The workers of one run, and their successors after a kill. One thread uses it. */
final class WorkerFleet {

    /**
     * The waiter ttl of each worker. A waiter accepts a hand-over if the ttl of its lease is not shorter than this. So
     * with the first value all waiters except those with the shortest leases accept one, with the second most, with the
     * third none. A short waiter ttl ends the first leases of paused and killed workers soon. No lease has one of these
     * ttls.
     */
    static final List<Duration> WAITER_TTLS =
            List.of(Duration.ofMillis(290), Duration.ofMillis(790), PostgresSettings.WAITER_TTL);

    private final StressServer server;
    private final Path directory;
    private final int clients;
    private final List<String> properties;
    private final Random random;
    private final List<WorkerProcess> workers = new ArrayList<>();
    private final List<WorkerProcess> all = new ArrayList<>();

    /**
     * @param clients the number of client threads of each worker
     * @param properties of each worker, besides those of the server
     */
    WorkerFleet(StressServer server, Path directory, int clients, List<String> properties, Random random) {
        this.server = server;
        this.directory = directory;
        this.clients = clients;
        this.properties = properties;
        this.random = random;
    }

    void start(int count) {
        for (int i = 0; i < count; i++) {
            workers.add(start(i, 1));
        }
    }

    private WorkerProcess start(int index, int incarnation) {
        String name = "w" + index + "." + incarnation;
        List<String> arguments = new ArrayList<>(List.of(
                name,
                server.url(index),
                directory.resolve(name + ".history").toString(),
                Long.toString(random.nextLong()),
                Integer.toString(clients),
                Long.toString(server.waiterTtls()
                        .get(index % server.waiterTtls().size())
                        .toMillis())));
        arguments.addAll(server.properties(index));
        arguments.addAll(properties);
        WorkerProcess worker = new WorkerProcess(
                name, directory, new Launch(StressWorker.class, "", server.environment(index), arguments));
        all.add(worker);
        return worker;
    }

    void awaitReady() throws Exception {
        for (WorkerProcess worker : workers) {
            worker.awaitReady();
        }
    }

    void workUntil(long end) throws IOException {
        for (WorkerProcess worker : workers) {
            worker.workUntil(end);
        }
    }

    int size() {
        return workers.size();
    }

    WorkerProcess worker(int index) {
        return workers.get(index);
    }

    /** Starts a new worker instead of one that was killed. */
    void replace(int index, long end) throws Exception {
        String victim = workers.get(index).name();
        int incarnation = Integer.parseInt(victim.substring(victim.indexOf('.') + 1)) + 1;
        WorkerProcess successor = start(index, incarnation);
        workers.set(index, successor);
        successor.awaitReady();
        successor.workUntil(end);
    }

    /** @return whether all ended by themselves, without an error */
    boolean awaitEnd() throws InterruptedException {
        boolean peaceful = true;
        for (WorkerProcess worker : workers) {
            peaceful &= worker.awaitEnd();
        }
        return peaceful;
    }

    Stream<Path> histories() {
        return all.stream().map(WorkerProcess::history);
    }

    /** The output of the workers, except that they are ready: errors of the library, unexpected failures of clients. */
    List<String> complaints() {
        return all.stream()
                .flatMap(worker -> {
                    try {
                        return Files.readAllLines(worker.log()).stream();
                    } catch (IOException ex) {
                        return Stream.of(ex.toString());
                    }
                })
                .filter(not(line -> line.startsWith(WorkerProcess.READY)))
                .filter(line -> line.contains("ERROR") || line.contains(StressClient.UNEXPECTED))
                .toList();
    }

    /** Ends the processes that still run. */
    void kill() throws InterruptedException {
        for (WorkerProcess worker : all) {
            worker.kill();
        }
    }
}
