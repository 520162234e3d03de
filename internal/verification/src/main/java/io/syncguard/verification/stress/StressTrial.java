package io.syncguard.verification.stress;

import io.syncguard.verification.StressSettings;
import io.syncguard.verification.Trial;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.history.Violation;
import java.util.ArrayList;
import java.util.List;

/** The stress as a trial: processes use locks in all ways at random, and the run disturbs them all the time. */
public final class StressTrial implements Trial {

    private static final int WORKERS = 3;
    private static final int CLIENTS = 4;

    private final boolean postgres;
    private final int seconds;

    private StressTrial(boolean postgres, int seconds) {
        this.postgres = postgres;
        this.seconds = seconds;
    }

    /** @param seconds of work in one run */
    public static StressTrial onPostgres(int seconds) {
        return new StressTrial(true, seconds);
    }

    /** @param seconds of work in one run */
    public static StressTrial onRedis(int seconds) {
        return new StressTrial(false, seconds);
    }

    @Override
    public Verdict run(Bug bug, long seed) throws Exception {
        OwnStressRun run = new OwnStressRun(
                new StressSettings(seed, seconds, WORKERS, CLIENTS),
                surroundings -> postgres ? server(surroundings, bug) : new RedisStressServer(surroundings),
                bug);
        try {
            StressReport report = run.run();
            List<String> violations = new ArrayList<>(
                    report.violations().stream().map(Violation::toString).toList());
            report.complaints().forEach(complaint -> violations.add("COMPLAINT: " + complaint));
            if (violations.isEmpty()) {
                run.deleteFiles();
            }
            return new Verdict(report.operations(), violations);
        } finally {
            run.stop();
        }
    }

    private static StressServer server(StressServer.Surroundings surroundings, Bug bug) {
        StressServer server = new PostgresStressServer(surroundings);
        bug.install(surroundings.dataSource());
        return server;
    }

    @Override
    public String toString() {
        return "stress on " + (postgres ? "PostgreSQL" : "Redis");
    }
}
