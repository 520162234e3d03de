package io.syncguard.benchmarks;

import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The cost of each operation at the server: its processor time, and on PostgreSQL the bytes of WAL. docs/internals/benchmarks.md
 * derives the capacity of a server from it.
 *
 * <p>Arguments: rounds (5), seconds per measurement (4), a part of the names of measurements (all). Starts a PostgreSQL
 * with durable settings, a Redis, and a Redis that writes each change to the disk before it answers.
 */
public final class ServerCosts {

    private static final int MANY_THREADS = 64;
    private static final int MOST_KEYS = 3200;
    private static final int WAITERS = 200;
    private static final String KEY = "one";

    /** The factor for longer measurements: the server does little, and its time is counted in steps of 10 ms. */
    private static final int LONG = 10;

    /** The heartbeat extends it once a second. */
    private static final Duration TTL = Duration.ofSeconds(3);

    private final Store store;
    private final Server server;
    private final Rounds rounds;
    private final ConfigurableApplicationContext application;
    private final ConfigurableApplicationContext other;
    private final AtomicLong extensions = new AtomicLong();

    /**
     * The result of one measurement.
     *
     * @param micros processor time of the server per operation, in microseconds
     * @param walBytes bytes of WAL per operation; NaN without WAL
     * @param perSecond number of operations per second
     */
    private record Cost(double micros, double walBytes, double perSecond) {}

    private ServerCosts(Store store, Server server, Rounds rounds) {
        this.store = store;
        this.server = server;
        this.rounds = rounds;
        String url = server.newDatabase(store == Store.POSTGRES ? Peer.SYNCGUARD : Peer.SYNCGUARD_REDIS);
        this.application = start(url);
        this.other = start(url);
    }

    /** Runs the measurements and prints the results. */
    public static void main(String[] args) throws Exception {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        Duration duration = Duration.ofSeconds(args.length > 1 ? Integer.parseInt(args[1]) : 4);
        Rounds rounds = new Rounds(count, duration, true);
        String part = args.length > 2 ? args[2] : "";
        measure(Store.POSTGRES, new PostgresServer(), rounds, part);
        measure(Store.REDIS, new RedisServer(), rounds, part);
        measure(Store.REDIS, new RedisServer("appendonly yes", "appendfsync always"), rounds, part);
    }

    private static void measure(Store store, Server server, Rounds rounds, String part) throws Exception {
        try (server) {
            System.out.println(server.description() + "; " + rounds.description());
            ServerCosts costs = new ServerCosts(store, server, rounds);
            try {
                costs.run(part);
            } finally {
                costs.other.close();
                costs.application.close();
            }
        }
    }

    private ConfigurableApplicationContext start(String url) {
        LockListener counter = new LockListener() {
            @Override
            public void extended(LockEvent event) {
                extensions.incrementAndGet();
            }
        };
        return store == Store.POSTGRES ? Bench.application(url, counter) : Bench.redisApplication(url, counter);
    }

    private void run(String part) throws Exception {
        Map<String, Callable<Cost>> measurements = new LinkedHashMap<>();
        measurements.put("pair, 1 thread", () -> pairs(Load.of(1)));
        measurements.put("pair, 16 threads", () -> pairs(Load.of(16)));
        measurements.put("pair, 64 threads", () -> pairs(Load.of(MANY_THREADS)));
        Load virtual = new Load(500, true);
        if (virtual.isPossible()) {
            measurements.put("pair, 500 virtual threads", () -> pairs(virtual));
        }
        measurements.put("refused try", this::refusedTries);
        measurements.put("hand-over between 2 processes, 8 threads each", this::handOvers);
        for (int leases : List.of(100, 1_000, 10_000)) {
            measurements.put("extension, " + leases + " leases of a process", () -> extensions(leases));
        }
        measurements.put("second of a caller that waits, 200 for a key", this::waiting);
        measurements.put("second of 2 processes without locks", () -> cost(() -> rest(LONG)));
        measurements.keySet().removeIf(name -> !name.contains(part));
        Report report = new Report(System.out);
        Map<String, List<Cost>> found = rounds.interleave(measurements);
        report.title(store.label() + ": processor time of the server, microseconds per operation");
        Report.figures(found, Cost::micros).forEach(report::add);
        if (store == Store.POSTGRES) {
            report.title(store.label() + ": bytes of WAL per operation");
            Report.figures(found, Cost::walBytes).forEach(report::add);
        }
        report.title(store.label() + ": operations per second");
        Report.figures(found, Cost::perSecond).forEach(report::add);
    }

    /** @param work returns the number of its operations */
    private Cost cost(Callable<Double> work) throws Exception {
        long process = server.processId();
        double wal = walBytes();
        double micros = ProcessorTime.ofTree(process);
        long began = System.nanoTime();
        double operations = work.call();
        double seconds = (System.nanoTime() - began) / 1e9;
        return new Cost(
                (ProcessorTime.ofTree(process) - micros) / operations,
                (walBytes() - wal) / operations,
                operations / seconds);
    }

    private double walBytes() {
        return server instanceof PostgresServer postgres ? postgres.walBytes() : Double.NaN;
    }

    private Cost pairs(Load load) throws Exception {
        int keys = Math.min(50, MOST_KEYS / load.threads());
        return cost(() -> (double) load.run(
                        rounds.duration(),
                        (thread, count) -> locks(application)
                                .acquire(LockRequest.of("key-" + thread + "-" + count % keys))
                                .close())
                .count());
    }

    private Cost refusedTries() throws Exception {
        try (LockHandle held = locks(other).acquire(request(KEY))) {
            return cost(() -> (double) Load.of(1)
                    .run(rounds.duration(), (thread, count) -> {
                        if (locks(application).tryAcquire(request(KEY)) != null) {
                            throw new IllegalStateException("Granted beside " + held);
                        }
                    })
                    .count());
        }
    }

    private Cost handOvers() throws Exception {
        LockRequest request = request(KEY).waitTime(Duration.ofMinutes(1));
        return cost(() -> (double) Load.of(16)
                .run(
                        rounds.duration(),
                        (thread, count) -> locks(thread % 2 == 0 ? application : other)
                                .acquire(request)
                                .close())
                .count());
    }

    private Cost extensions(int leases) throws Exception {
        ConcurrentLinkedQueue<LockHandle> held = new ConcurrentLinkedQueue<>();
        together(leases, number -> held.add(locks(application).acquire(request("held-" + number))));
        // By then the first extensions of all leases are over.
        rest(1);
        Cost cost = cost(() -> {
            long before = extensions.get();
            rest(1);
            return (double) extensions.get() - before;
        });
        List<LockHandle> handles = new ArrayList<>(held);
        together(leases, number -> handles.get(number).close());
        return cost;
    }

    private Cost waiting() throws Exception {
        ExecutorService waiters = Executors.newFixedThreadPool(WAITERS);
        Duration wait = rounds.duration().multipliedBy(LONG + 1);
        try (LockHandle held = locks(other).acquire(request(KEY))) {
            AtomicInteger granted = new AtomicInteger();
            for (int i = 0; i < WAITERS; i++) {
                waiters.execute(() -> {
                    try {
                        locks(application).acquire(request(KEY).waitTime(wait)).close();
                        granted.incrementAndGet();
                    } catch (LockNotAcquiredException expected) {
                        // The wait time is over, as expected.
                    }
                });
            }
            TimeUnit.NANOSECONDS.sleep(rounds.duration().toNanos() / 2);
            Cost cost = cost(() -> WAITERS * rest(LONG));
            waiters.shutdown();
            waiters.awaitTermination(1, TimeUnit.MINUTES);
            if (granted.get() > 0) {
                throw new IllegalStateException("Granted beside " + held);
            }
            return cost;
        } finally {
            waiters.shutdown();
        }
    }

    @FunctionalInterface
    private interface Step {
        void run(int number);
    }

    /** Runs the step for all numbers up to the count, in many threads. */
    private static void together(int count, Step step) throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(MANY_THREADS);
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.execute(() -> step.run(number));
        }
        threads.shutdown();
        if (!threads.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("Not done after a minute");
        }
    }

    /** Waits for this multiple of a measurement's duration, and returns the seconds. */
    private double rest(int times) throws InterruptedException {
        long nanos = times * rounds.duration().toNanos();
        TimeUnit.NANOSECONDS.sleep(nanos);
        return nanos / 1e9;
    }

    private static LockRequest request(String key) {
        return LockRequest.of(key).ttl(TTL);
    }

    private static LockManager locks(ConfigurableApplicationContext application) {
        return application.getBean(LockManager.class);
    }
}
