package io.syncguard.verification.commits;

import io.syncguard.CommitGuard;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.PostgresServer;
import io.syncguard.verification.StressSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;

/** Several processes commit under locks. The run pauses one after the other for longer than its leases. */
public final class CommitRun {

    private static final int KEYS = 24;

    private static final String OUT_OF_ORDER = """
            SELECT count(*) FROM (
                SELECT fence, lag(fence) OVER (PARTITION BY key ORDER BY version) AS before FROM effect
            ) AS commit WHERE fence <= before
            """;

    private final StressSettings settings;
    private final CommitGuard guard;
    private final Random random;
    private final String url = newDatabase();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));

    /** @param settings how many processes and threads, and for how long */
    CommitRun(StressSettings settings, CommitGuard guard) {
        this.settings = settings;
        this.guard = guard;
        this.random = new Random(settings.seed());
    }

    /** Creates a database with the tables of the locks and of the rounds. */
    static String newDatabase() {
        String url = PostgresServer.newDatabaseUrl();
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT).initialize();
        new JdbcTemplate(PostgresServer.dataSource(url)).execute(CommitRounds.TABLES);
        return url;
    }

    static ChildJvm newProcess(String url, CommitGuard guard, int threads) {
        return ChildJvm.start(CommitProcess.class, url, guard.name(), String.valueOf(threads));
    }

    CommitReport run() {
        return run(() -> false);
    }

    /** @param isEnough ends the run early when it returns true */
    CommitReport run(BooleanSupplier isEnough) {
        List<ChildJvm> processes = Stream.generate(() -> newProcess(url, guard, settings.clients()))
                .limit(settings.workers())
                .toList();
        try {
            processes.forEach(each -> each.ask("work " + settings.clients() + " " + KEYS + " " + random.nextInt()));
            int pauses = disturb(processes, isEnough);
            processes.forEach(each -> each.ask("end"));
            return report(processes, pauses);
        } finally {
            processes.forEach(ChildJvm::close);
        }
    }

    private int disturb(List<ChildJvm> processes, BooleanSupplier isEnough) {
        long end = System.nanoTime() + Duration.ofSeconds(settings.seconds()).toNanos();
        int pauses = 0;
        while (System.nanoTime() < end && !isEnough.getAsBoolean()) {
            ChildJvm victim = processes.get(random.nextInt(processes.size()));
            victim.pause();
            LockSupport.parkNanos(Duration.ofMillis(1400 + random.nextInt(600)).toNanos());
            victim.resume();
            pauses++;
            LockSupport.parkNanos(Duration.ofMillis(100 + random.nextInt(300)).toNanos());
        }
        return pauses;
    }

    private CommitReport report(List<ChildJvm> processes, int pauses) {
        List<String> committed = all(processes, "committed");
        List<String> refused = all(processes, "refused");
        return new CommitReport(
                sum(processes, "done"),
                pauses,
                jdbc.queryForObject("SELECT count(*) FROM effect", Long.class),
                refused.size(),
                sum(processes, "lost-after-commit"),
                outOfOrder(),
                committed.size() - found(committed) + found(refused));
    }

    /** The number of effects whose fence is not larger than that of the key's previous effect. */
    long outOfOrder() {
        return jdbc.queryForObject(OUT_OF_ORDER, Long.class);
    }

    private long found(List<String> attempts) {
        return jdbc.queryForObject("SELECT count(*) FROM effect WHERE attempt = ANY (?)", Long.class, (Object)
                attempts.toArray(new String[0]));
    }

    @Override
    public String toString() {
        return settings.workers() + " processes, guard " + guard + ", with -Dsyncguard.stress.seed=" + settings.seed();
    }

    private static int sum(List<ChildJvm> processes, String question) {
        return processes.stream()
                .mapToInt(each -> Integer.parseInt(each.ask(question)))
                .sum();
    }

    private static List<String> all(List<ChildJvm> processes, String question) {
        List<String> answers = new ArrayList<>();
        for (ChildJvm each : processes) {
            Stream.of(each.ask(question).split(" "))
                    .filter(word -> !word.isEmpty())
                    .forEach(answers::add);
        }
        return answers;
    }
}
