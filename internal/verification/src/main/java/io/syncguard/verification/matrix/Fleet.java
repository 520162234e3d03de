package io.syncguard.verification.matrix;

import io.syncguard.verification.WorkerProcess;
import io.syncguard.verification.WorkerProcess.Launch;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.recording.Recording;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The processes of a run, and their successors. */
final class Fleet {

    /** A time in which a process could not act, or after which it was gone. */
    record Absence(String process, long from, long to) {}

    private final Site site;
    private final Path directory;
    private final Recording recording;
    private final Load load;
    private final Random random;
    private final List<WorkerProcess> current = new ArrayList<>();
    private final List<WorkerProcess> all = new ArrayList<>();
    private final List<Absence> absences = new ArrayList<>();

    /** @param random seeds the processes */
    Fleet(Site site, Path directory, Recording recording, Load load, Random random) {
        this.site = site;
        this.directory = directory;
        this.recording = recording;
        this.load = load;
        this.random = random;
    }

    void start() throws Exception {
        for (int i = 0; i < load.processes(); i++) {
            current.add(start(i, 1));
        }
        for (WorkerProcess each : current) {
            each.awaitReady();
        }
    }

    private synchronized WorkerProcess start(int index, int incarnation) {
        String name = "p" + index + "." + incarnation;
        List<String> arguments = new ArrayList<>(List.of(
                name,
                directory.resolve(name + ".history").toString(),
                directory.resolve(name + ".calls").toString(),
                Long.toString(random.nextLong()),
                "shop.clients=" + load.clients(),
                "shop.kinds=" + site.kinds().stream().map(Enum::name).collect(Collectors.joining(",")),
                "shop.wait-millis=" + load.waitMillis(),
                "shop.names=" + load.names(),
                "shop.gauges=" + gauges(name),
                "syncguard.wait-time=" + load.waitMillis() + "ms",
                "syncguard.ttl=" + load.ttlMillis() + "ms",
                "syncguard.shutdown-timeout=3s"));
        arguments.addAll(site.properties(index));
        arguments.add(load.bug().property());
        WorkerProcess process =
                new WorkerProcess(name, directory, new Launch(Shop.class, site.classPath(), Map.of(), arguments));
        all.add(process);
        return process;
    }

    int size() {
        return load.processes();
    }

    /** A random process that may be killed. */
    int mortal(Random random) {
        return random.nextInt(load.immortal(), size());
    }

    /** The file to which a process writes its resource use. */
    Path gauges(String process) {
        return directory.resolve(process + ".gauges");
    }

    synchronized WorkerProcess get(int index) {
        return current.get(index);
    }

    /** Kills the process like a crash, and starts a successor. */
    void killAndReplace(int index) throws Exception {
        kill(index);
        replace(index);
    }

    void kill(int index) throws Exception {
        WorkerProcess victim = get(index);
        long at = System.nanoTime();
        victim.kill();
        recording.killed(victim.name(), at);
        gone(victim, at);
    }

    /** Asks the process to end, waits for that, and starts a successor. */
    void terminateAndReplace(int index) throws Exception {
        terminate(index);
        replace(index);
    }

    /** Asks the process to end and waits for that. It gets no successor. */
    void terminate(int index) throws Exception {
        WorkerProcess victim = get(index);
        victim.terminate();
        victim.awaitExit();
        gone(victim, System.nanoTime());
    }

    private synchronized void gone(WorkerProcess victim, long at) {
        absences.add(new Absence(victim.name(), at, Long.MAX_VALUE));
    }

    /** Starts a successor of a process that has ended. */
    void replace(int index) throws Exception {
        String victim = get(index).name();
        WorkerProcess successor = start(index, Integer.parseInt(victim.substring(victim.indexOf('.') + 1)) + 1);
        synchronized (this) {
            current.set(index, successor);
        }
        successor.awaitReady();
    }

    /** Pauses the process during this action. */
    void paused(int index, Runnable meanwhile) throws Exception {
        WorkerProcess victim = get(index);
        absent(victim, () -> {
            victim.pause();
            meanwhile.run();
            victim.resume();
        });
    }

    /** Pauses the process during this action, by its JVM instead of the operating system. */
    void collectingGarbage(int index, Runnable meanwhile) throws Exception {
        WorkerProcess victim = get(index);
        absent(victim, () -> Safepoint.hold(victim.pid(), meanwhile));
    }

    private void absent(WorkerProcess victim, Pause pause) throws Exception {
        long from = System.nanoTime();
        pause.last();
        synchronized (this) {
            absences.add(new Absence(victim.name(), from, System.nanoTime()));
        }
    }

    interface Pause {
        void last() throws Exception;
    }

    /** Makes all processes share one processor during this action. */
    void onOneProcessor(Pause meanwhile) throws Exception {
        List<Long> pids = current.stream().map(WorkerProcess::pid).toList();
        Processors.shareOne(pids);
        meanwhile.last();
        Processors.shareAll(pids);
    }

    /** Tells all processes to end, and waits for that. */
    void end() throws Exception {
        for (WorkerProcess each : current) {
            each.deliver(Shop.END);
        }
        for (WorkerProcess each : current) {
            if (!each.awaitEnd()) {
                throw new IllegalStateException(each.name() + " did not end, see " + each.log());
            }
        }
    }

    /** Kills the processes that still run. */
    void kill() throws InterruptedException {
        for (WorkerProcess each : all) {
            each.kill();
        }
    }

    List<Absence> absences() {
        return absences;
    }

    List<Path> histories() {
        return files(".history");
    }

    List<Path> calls() {
        return files(".calls");
    }

    private List<Path> files(String suffix) {
        return all.stream()
                .map(each -> directory.resolve(each.name() + suffix))
                .filter(Files::exists)
                .toList();
    }

    /** The output of the processes, except that they are ready. */
    List<String> complaints() {
        return all.stream().flatMap(Fleet::complaints).toList();
    }

    private static Stream<String> complaints(WorkerProcess process) {
        try {
            return Files.readAllLines(process.log()).stream()
                    .filter(line ->
                            line.contains("ERROR") || line.contains(ShopClient.UNEXPECTED) || line.contains(Shop.LEFT))
                    .map(line -> process.name() + ": " + line);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * The work of the processes.
     *
     * @param processes number of processes
     * @param clients number of threads of each process
     * @param ttlMillis the ttl of the locks
     * @param waitMillis how long a client waits for a lock
     * @param bug usually none
     * @param names number of names that each key has in turn
     * @param immortal number of processes that are never killed
     */
    record Load(int processes, int clients, long ttlMillis, long waitMillis, Bug bug, int names, int immortal) {

        static final Load USUAL = new Load(3, 4, 1000, 2000, Bug.NONE, 1, 0);

        /** The ttl is longer than a waiter's entry lives, because only such leases are handed over. */
        static final Load OF_HAND_OVERS = new Load(3, 4, 6000, 8000, Bug.NONE, 1, 0);

        /** Two processes live all the time. Keys have many names in turn, so that the history of each name is short. */
        static final Load OF_SOAK = new Load(3, 4, 1000, 2000, Bug.NONE, 16, 2);
    }
}
