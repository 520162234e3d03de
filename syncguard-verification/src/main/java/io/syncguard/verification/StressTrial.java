package io.syncguard.verification;

import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;

/** The stress as a trial: processes that use locks in all ways at random, and are disturbed all the time. */
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
    public Verdict run(ChangedLibrary library, long seed) throws Exception {
        StressRun run = new StressRun(
                new StressSettings(seed, seconds, WORKERS, CLIENTS),
                surroundings -> postgres ? server(surroundings, library) : new RedisStressServer(surroundings),
                library.classPath());
        try {
            StressReport report = run.run();
            return new Verdict(
                    report.operations(),
                    Stream.concat(
                                    report.violations().stream().map(Violation::toString),
                                    Stream.concat(
                                            report.complaints().stream(),
                                            report.lateGuarded() > 0
                                                    ? Stream.of("EFFECTS: the guard let pass a smaller fence")
                                                    : Stream.of()))
                            .toList());
        } finally {
            run.stop();
        }
    }

    /** The test has created the schema with the script of the unchanged library. */
    private static StressServer server(StressServer.Surroundings surroundings, ChangedLibrary library) {
        StressServer server = new PostgresStressServer(surroundings);
        try {
            library.script().ifPresent(script -> new JdbcTemplate(surroundings.dataSource()).execute(filled(script)));
        } catch (java.io.IOException ex) {
            throw new java.io.UncheckedIOException(ex);
        }
        return server;
    }

    private static String filled(String script) {
        String filled = script;
        for (Map.Entry<String, String> each : new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER)
                .placeholders()
                .entrySet()) {
            filled = filled.replace("${" + each.getKey() + "}", each.getValue());
        }
        return filled;
    }

    @Override
    public String toString() {
        return "stress on " + (postgres ? "PostgreSQL" : "Redis");
    }
}
