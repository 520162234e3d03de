package io.syncguard.verification.permits;

import io.syncguard.testing.ChildJvm;
import io.syncguard.verification.Trial;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.permits.PermitProcess.Work;
import io.syncguard.verification.queue.PostgresQueueServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Processes that batch all requests, with as many callers of each key as it has permits, and one more. */
public final class PermitTrial implements Trial {

    private static final int PROCESSES = 2;
    private static final int MOST_PERMITS = 5;
    private static final int MOST_MILLIS = 5;
    private static final long MILLI = 1_000_000;

    private final int seconds;

    private PermitTrial(int seconds) {
        this.seconds = seconds;
    }

    /** @param seconds of work in one run */
    public static PermitTrial onPostgres(int seconds) {
        return new PermitTrial(seconds);
    }

    @Override
    public Verdict run(Bug bug, long seed) {
        Random random = new Random(seed);
        List<ChildJvm> processes = new ArrayList<>();
        try (PostgresQueueServer server = new PostgresQueueServer();
                PlaceCounter counter = new PlaceCounter()) {
            bug.install(server.dataSource());
            for (int i = 0; i < PROCESSES; i++) {
                processes.add(PermitProcess.start(server.url(), counter, "always", random.nextLong()));
            }
            for (int permits = 1; permits <= MOST_PERMITS; permits++) {
                ChildJvm process = processes.get(permits % PROCESSES);
                process.ask(new Work("partner-" + permits, permits, permits, 0, permits + 1, MOST_MILLIS).command());
            }
            LockSupport.parkNanos(seconds * 1000 * MILLI);
            processes.forEach(process -> process.ask(PermitProcess.END));
            return new Verdict(
                    counter.entered(),
                    counter.violations().stream()
                            .map(violation -> "AT WORK: " + violation)
                            .toList());
        } finally {
            processes.forEach(ChildJvm::close);
        }
    }

    @Override
    public String toString() {
        return "permits on PostgreSQL";
    }
}
