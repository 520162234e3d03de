package io.syncguard.check;

import io.syncguard.check.Finding.Part;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.testing.RedisProxy;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation;
import io.syncguard.verification.history.Violation.Rule;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.StressStore;
import io.syncguard.verification.stress.StressClient;
import io.syncguard.verification.stress.StressReport;
import io.syncguard.verification.stress.StressRun;
import io.syncguard.verification.stress.StressServer;
import io.syncguard.verification.stress.StressWorker;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Lets processes use locks at random, disturbs them, and judges what they recorded. */
final class LoadRun implements StressServer {

    private static final String ELECTION = "check";

    /** How much evidence of one broken promise a report has. */
    private static final int MOST_EVIDENCE = 3;

    /** Fewer come from a machine or a server that is overloaded. */
    private static final int LEAST_GRANTS_PER_SECOND = 10;

    private final Area area;
    private final @Nullable Runnable restart;
    private final PrintWriter out;
    private final @Nullable RedisProxy proxy;
    private String happened = "";
    private volatile @Nullable StressRun run;

    /** Whether the files show a broken promise or a failure. */
    private volatile boolean filesAreNeeded;

    private volatile boolean closing;

    private final AtomicInteger ended = new AtomicInteger();

    private final AtomicBoolean restarted = new AtomicBoolean();

    private final List<String> extra;

    /**
     * @param restart returns when the server has been restarted under load; null if it is not
     * @param extra settings of the workers besides those of the area
     */
    LoadRun(Area area, @Nullable Runnable restart, PrintWriter out, List<String> extra) {
        this.area = area;
        this.restart = restart;
        this.out = out;
        this.extra = extra;
        String address = area.address();
        // It forwards the bytes of any protocol.
        this.proxy = address == null ? null : new RedisProxy("any://" + address);
    }

    /** What the processes did, and what was done to them. Empty before the end. */
    String happened() {
        return happened;
    }

    /** @param directory of this run alone, which it deletes unless somebody needs its files */
    List<Finding> run(StressSettings settings, Path directory) throws Exception {
        StressRun started = new StressRun(settings, directory, area.data(), this, extra);
        run = started;
        try {
            StressReport report = started.run();
            filesAreNeeded = !report.isClean() && !closing;
            return findings(report);
        } catch (Exception ex) {
            filesAreNeeded = !closing;
            throw ex;
        } finally {
            if (filesAreNeeded) {
                out.println("  The histories are in " + directory);
            }
        }
    }

    List<Finding> findings(StressReport report) {
        List<Finding> findings = new ArrayList<>();
        Map<Rule, List<Violation>> broken = report.violations().stream()
                .collect(Collectors.groupingBy(Violation::rule, LinkedHashMap::new, Collectors.toList()));
        for (Rule rule : Rule.values()) {
            List<Violation> found = broken.getOrDefault(rule, List.of());
            if (!found.isEmpty()) {
                findings.add(Finding.broken(
                                Part.LOAD,
                                rule.promise(),
                                "broken " + found.size() + " times in " + report.operations() + " operations",
                                restart != null
                                        ? "The server lost this in the restart"
                                        : "Attach this report to an issue")
                        .with(found.stream()
                                .limit(MOST_EVIDENCE)
                                .map(Violation::message)
                                .toList()));
            } else if (!rule.isSeenByClients()) {
                findings.add(Finding.notTried(Part.LOAD, rule.promise(), "only the server's own tables show it"));
            } else if (needsData(rule) && area.data() == null) {
                findings.add(Finding.notTried(
                        Part.LOAD, rule.promise(), "this store has no tables for the data of an application"));
            } else {
                findings.add(Finding.holds(Part.LOAD, rule.promise(), "in " + report.operations() + " operations"));
            }
        }
        long grants = report.counts().getOrDefault("ACQUIRE OK", 0L);
        if (grants < LEAST_GRANTS_PER_SECOND * report.settings().seconds()) {
            findings.add(Finding.warning(
                    Part.LOAD,
                    "load",
                    "few grants (" + grants + ") try promises little",
                    "Run the check again for more minutes, or when the server and this machine are less busy"));
        }
        if (report.lateGuarded() > 0) {
            findings.add(Finding.broken(
                    Part.LOAD,
                    "a resource that checks fences",
                    report.lateGuarded() + " writes passed it after one with a larger fence",
                    ""));
        }
        if (!report.complaints().isEmpty()) {
            findings.add(Finding.broken(
                            Part.LOAD,
                            "the library reports no error",
                            report.complaints().size() + " lines",
                            "")
                    .with(report.complaints().stream().limit(MOST_EVIDENCE).toList()));
        }
        happened = report.operations() + " operations; processes were killed, paused and left without threads; "
                + (proxy == null
                        ? "connections were not cut, because no proxy can stand in front of this address"
                        : "connections were cut, delayed and silent")
                + "; " + ended + " sessions were ended at the server; "
                + (restarted.get() ? "the server was restarted; " : "") + report.counts();
        return findings;
    }

    private static boolean needsData(Rule rule) {
        return rule == Rule.EFFECTS || rule == Rule.COMMITS;
    }

    @Override
    public String url(int process) {
        return "the server of this check";
    }

    /** With the address and the password, which no other user of the machine may see. */
    @Override
    public Map<String, String> environment(int process) {
        Map<String, String> properties =
                new LinkedHashMap<>(area.properties(proxy == null || process % 2 == 0 ? null : addressOf(proxy)));
        properties.put(StressWorker.ELECTION, ELECTION);
        properties.put("syncguard.leader.elections." + ELECTION + ".ttl", "2s");
        // A new fence for a term would look like a grant that nobody asked for.
        properties.put("syncguard.leader.elections." + ELECTION + ".fence-rotation", "0s");
        return Map.of("SPRING_APPLICATION_JSON", new JsonMapper().writeValueAsString(properties));
    }

    private static String addressOf(RedisProxy proxy) {
        return proxy.url().replaceFirst(".*//", "");
    }

    @Override
    public List<String> properties(int process) {
        return List.of(StressClient.PERMITTED + "=true");
    }

    @Override
    public List<Duration> waiterTtls() {
        return List.of(PostgresSettings.WAITER_TTL);
    }

    @Override
    public @Nullable StressStore store() {
        return null;
    }

    @Override
    public List<Disturbance> disturbances(HistoryRecorder recorder, Random random) {
        List<Disturbance> disturbances = new ArrayList<>();
        disturbances.add(new Disturbance(500, () -> {
            if (area.endSession()) {
                ended.incrementAndGet();
            }
        }));
        if (proxy != null) {
            disturbances.add(new Disturbance(300, () -> disturb(proxy, random)));
        }
        if (restart != null) {
            disturbances.add(new Disturbance(1000, () -> restartOnce(restart, recorder)));
        }
        return disturbances;
    }

    private static void disturb(RedisProxy proxy, Random random) {
        switch (random.nextInt(4)) {
            case 0 -> proxy.cut();
            case 1 -> proxy.reset();
            case 2 -> {
                proxy.delayAnswers(Duration.ofMillis(5 + random.nextInt(30)));
                LockSupport.parkNanos(300_000_000);
                proxy.delayAnswers(Duration.ZERO);
            }
            default -> {
                proxy.fallSilent();
                LockSupport.parkNanos((1 + random.nextInt(200)) * 1_000_000L);
                proxy.speakAgain();
            }
        }
    }

    private void restartOnce(Runnable restart, HistoryRecorder recorder) {
        if (restarted.compareAndSet(false, true)) {
            HistoryEvent away = recorder.begin(Kind.RESTARTED, "restart", "", "");
            restart.run();
            recorder.write(away.answered(System.nanoTime(), Outcome.OK));
        }
    }

    @Override
    public Set<String> ownEvents() {
        return Set.of();
    }

    /** Ends the processes, and deletes their files if nobody needs them. */
    @Override
    public void close() {
        closing = true;
        StressRun started = run;
        if (started != null) {
            try {
                started.stop();
                if (!filesAreNeeded) {
                    started.deleteFiles();
                }
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            } catch (IOException ex) {
                out.println("  Files were not deleted: " + ex.getMessage());
            }
        }
        if (proxy != null) {
            proxy.close();
        }
    }
}
