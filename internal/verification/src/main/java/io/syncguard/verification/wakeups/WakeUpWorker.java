package io.syncguard.verification.wakeups;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.testing.ChildJvm;
import io.syncguard.verification.bugs.Bug;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A process whose waiters depend on wake-ups alone: a lease lives for hours, and the safety poll comes after an hour.
 * Some waiters accept a hand-over, others are woken. Each group of eight threads has two keys. Four threads use the
 * calm key, for which every caller waits until the grant. The others use the restless key, on which some callers give
 * up, are interrupted, or let a lease lapse early. Bodies are empty.
 */
public final class WakeUpWorker {

    /** The limit of a wait: only a poll, not a wake-up, can have ended a longer one. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration HOUR = Duration.ofHours(1);

    /** The interval of the safety poll is a third of this at most. */
    private static final Duration WAITER_TTL = HOUR.multipliedBy(3);

    /** A waiter with a shorter ttl does not accept a hand-over. */
    private static final Duration TTL = WAITER_TTL;

    private static final int THREADS_OF_KEYS = 8;

    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);

    /** The limit for the end of all threads, a little longer than the longest wait. */
    private static final long END_SECONDS = PATIENCE.toSeconds() + 10;

    private final LockEngine locks;
    private final WakeUpMeter meter = new WakeUpMeter();
    private final Interrupter interrupter = new Interrupter();
    private List<WakeUpClient> clients = List.of();
    private List<Thread> threads = List.of();

    private WakeUpWorker(String url, Bug bug) {
        EngineSettings settings =
                new EngineSettings("worker", TTL, PATIENCE, HOUR, HOUR, Duration.ZERO, Duration.ZERO, Map.of());
        locks = new LockEngine(
                meter.watched(bug.around(ApplicationBackend.on(url, 4, NETWORK_TIMEOUT, WAITER_TTL))),
                settings,
                TransactionBoundary.NONE,
                List.of(meter));
    }

    /** @param arguments the URL of the locks, and the name of a bug */
    public static void main(String[] arguments) throws IOException {
        WakeUpWorker worker = new WakeUpWorker(arguments[0], Bug.named(arguments[1]));
        ChildJvm.serve(question -> worker.answer(question.split(" ")));
    }

    private String answer(String[] words) {
        return switch (words[0]) {
            case "work" ->
                work(
                        words[1],
                        new Random(Long.parseLong(words[2])),
                        Integer.parseInt(words[3]),
                        Boolean.parseBoolean(words[4]));
            case "progress" -> report();
            case "end" -> end();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String work(String keys, Random random, int count, boolean shortens) {
        meter.reset();
        clients = new ArrayList<>();
        threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean restless = i % 2 == 1;
            String key = keys + "-" + i / THREADS_OF_KEYS + (restless ? "-restless" : "-calm");
            WakeUpClient.Use use = new WakeUpClient.Use(key, restless, i % THREADS_OF_KEYS == 1 && shortens);
            WakeUpClient client = new WakeUpClient(locks, meter, interrupter, use, new Random(random.nextLong()));
            clients.add(client);
            Thread thread = new Thread(client, "client-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return "started";
    }

    /** Ends the clients after their current work. */
    private String end() {
        clients.forEach(WakeUpClient::end);
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        try {
            for (Thread thread : threads) {
                thread.join(Math.max(1, (until - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
        return report();
    }

    private String report() {
        return meter.report((int) threads.stream().filter(Thread::isAlive).count())
                .toLine();
    }
}
