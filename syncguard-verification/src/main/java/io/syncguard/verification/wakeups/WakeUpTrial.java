package io.syncguard.verification.wakeups;

import io.syncguard.testing.ChangedLibrary;
import io.syncguard.testing.ChildJvm;
import io.syncguard.verification.Trial;
import io.syncguard.verification.queue.PostgresQueueServer;
import java.util.ArrayList;
import java.util.List;

/** The stress of wake-ups on PostgreSQL as a trial: no safety poll heals what was lost. */
public final class WakeUpTrial implements Trial {

    private static final int PROCESSES = 2;

    /** Of each process. On more keys, more waiters leave when a lease is about to lapse. */
    private static final int THREADS = 32;

    private final int seconds;

    /** @param seconds of work in one run */
    public WakeUpTrial(int seconds) {
        this.seconds = seconds;
    }

    @Override
    public Verdict run(ChangedLibrary library, long seed) throws Exception {
        try (PostgresQueueServer server = new PostgresQueueServer()) {
            library.installScript(server.dataSource());
            try (WakeUpRun run = new WakeUpRun(
                    PROCESSES, () -> ChildJvm.start(library.directory(), WakeUpWorker.class, server.url()), seed)) {
                WakeUpReport report = run.work("planted", PROCESSES, THREADS, seconds, () -> {});
                return new Verdict(report.handedOver() + report.fetched(), violations(report));
            }
        }
    }

    private static List<String> violations(WakeUpReport report) {
        List<String> violations = new ArrayList<>();
        if (report.stuck() > 0
                || report.failed() > 0
                || report.longestWaitMillis() >= WakeUpWorker.PATIENCE.toMillis()) {
            violations.add("WAKE-UP: a waiter was not woken: " + report);
        }
        return violations;
    }

    @Override
    public String toString() {
        return "wake-ups on PostgreSQL";
    }
}
