package io.syncguard.verification.wakeups;

import io.syncguard.verification.Trial;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.queue.PostgresQueueServer;
import io.syncguard.verification.queue.QueueServer;
import io.syncguard.verification.queue.RedisQueueServer;
import java.util.ArrayList;
import java.util.List;

/** The stress of wake-ups as a trial. No safety poll replaces a lost wake-up. */
public final class WakeUpTrial implements Trial {

    private static final int PROCESSES = 2;

    /** Threads of each process. More threads use more keys: more waiters leave when a lease is about to lapse. */
    private static final int THREADS = 32;

    private final boolean postgres;
    private final int seconds;

    private WakeUpTrial(boolean postgres, int seconds) {
        this.postgres = postgres;
        this.seconds = seconds;
    }

    /** @param seconds of work in one run */
    public static WakeUpTrial onPostgres(int seconds) {
        return new WakeUpTrial(true, seconds);
    }

    /** @param seconds of work in one run */
    public static WakeUpTrial onRedis(int seconds) {
        return new WakeUpTrial(false, seconds);
    }

    @Override
    public Verdict run(Bug bug, long seed) throws Exception {
        try (QueueServer server = postgres ? postgres(bug) : new RedisQueueServer();
                WakeUpRun run = new WakeUpRun(PROCESSES, server, bug, seed)) {
            WakeUpReport report = run.work("planted", PROCESSES, THREADS, seconds, () -> {});
            return new Verdict(report.handedOver() + report.fetched(), violations(report));
        }
    }

    private static QueueServer postgres(Bug bug) {
        PostgresQueueServer server = new PostgresQueueServer();
        bug.install(server.dataSource());
        return server;
    }

    private static List<String> violations(WakeUpReport report) {
        List<String> violations = new ArrayList<>();
        // A failed call is no violation: on a busy machine, an answer may take longer than a shortened lease.
        if (report.stuck() > 0 || report.longestWaitMillis() >= WakeUpWorker.PATIENCE.toMillis()) {
            violations.add("WAKE-UP: a waiter was not woken: " + report);
        }
        return violations;
    }

    @Override
    public String toString() {
        return "wake-ups on " + (postgres ? "PostgreSQL" : "Redis");
    }
}
