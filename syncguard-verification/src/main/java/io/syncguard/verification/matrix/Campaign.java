package io.syncguard.verification.matrix;

import io.syncguard.verification.HistoryJudge;
import io.syncguard.verification.HistoryJudge.Judgement;
import io.syncguard.verification.Recording;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Gaps.Gap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.springframework.dao.DataAccessException;

/**
 * Applications at work on one site while faults are injected, one after the other, at random moments.
 *
 * <p>After each fault every key has to be used again before the next round: what hangs for good does not go unnoticed.
 */
final class Campaign<S extends Site> {

    /** How long the keys may take to be used again after a fault. */
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private static final long WAITER_TTL_MILLIS = 5000;
    private static final long RECOVERY_MILLIS = 500;

    /** Two network timeouts, in which the release of an acquire in doubt arrives. */
    private static final long IN_DOUBT_MILLIS = 2 * Site.NETWORK_TIMEOUT_MILLIS;

    private static final long MILLI = 1_000_000;
    private static final int MOST_MILLIS_BEFORE_FAULT = 150;

    private static final String OUT_OF_ORDER = """
            SELECT key, kind, fence, largest, committed FROM (
                SELECT key, kind, fence, pg_xact_commit_timestamp(xmin)::TEXT AS committed, max(fence) OVER (
                    PARTITION BY key, kind = 'FENCED', kind = 'PLAIN' ORDER BY pg_xact_commit_timestamp(xmin), id
                ) AS largest FROM effects
            ) AS effects WHERE fence < largest
            """;

    /** A key may have several names in turn. */
    private static final String VERSIONS = """
            SELECT split_part(key, ':', 1) AS key, sum(version) AS version FROM heads GROUP BY 1
            """;

    private final Plan<S> plan;
    private final Site site;
    private final Random random;
    private final Duration tolerance;
    private final Path directory;
    private final Recording recording;
    private final Fleet fleet;
    private final List<Fault> faults;
    private final Absences absences = new Absences();
    private final List<Round> rounds = new ArrayList<>();

    /** Somebody who measures a campaign. */
    interface Watch {

        /** No interest. */
        Watch NONE = fleet -> {};

        /** The processes work, no fault was injected yet. */
        default void begin(Fleet fleet) {}

        /** No fault is injected any more, and the processes still work. */
        void end(Fleet fleet) throws Exception;
    }

    /** One fault, from its begin until it is healed, and until each key was used again. */
    private record Round(Fault fault, long from, long healed, long recovered) {}

    /**
     * @param seed of all random choices, though not of their timing at the server
     * @param tolerance beyond the promised times, for what else the machine does
     */
    Campaign(Plan<S> plan, S site, long seed, Duration tolerance) throws IOException {
        this.plan = plan;
        this.site = site;
        this.random = new Random(seed);
        this.tolerance = tolerance;
        this.directory =
                Files.createTempDirectory(Files.createDirectories(Path.of("target", "matrix")), plan.name() + "-");
        this.recording = new Recording("test", directory.resolve("test.history"));
        this.fleet = new Fleet(site, directory, recording, plan.load(), random);
        this.faults = plan.faults().on(site, fleet, plan.load());
    }

    /** The faults of the plan. */
    List<Fault> faults() {
        return faults;
    }

    /** @param roundsOfEach fault, unless the fault takes a share of them */
    CampaignReport run(int roundsOfEach) throws Exception {
        return run(
                faults.stream()
                        .flatMap(fault -> Stream.generate(() -> fault).limit(fault.rounds(roundsOfEach)))
                        .iterator(),
                Watch.NONE);
    }

    /** @param schedule one fault after the other */
    CampaignReport run(Iterator<Fault> schedule, Watch watch) throws Exception {
        try {
            fleet.start();
            awaitUse("before the first fault");
            watch.begin(fleet);
            while (schedule.hasNext()) {
                round(schedule.next());
            }
            watch.end(fleet);
            fleet.end();
        } finally {
            fleet.kill();
            absences.close();
        }
        absences.add(fleet.absences());
        return judge();
    }

    private void round(Fault fault) throws Exception {
        LockSupport.parkNanos(random.nextLong(MOST_MILLIS_BEFORE_FAULT * MILLI));
        long from = System.nanoTime();
        fault.injection().inject(random);
        long healed = System.nanoTime();
        awaitUse("after: " + fault.name());
        rounds.add(new Round(fault, from, healed, System.nanoTime()));
    }

    /** Waits until an effect of each key has been committed from now on. */
    private void awaitUse(String when) {
        Map<String, Long> before = new HashMap<>();
        Awaitility.await("use of every key " + when)
                .pollInterval(Duration.ofMillis(5))
                .atMost(PATIENCE)
                .until(() -> {
                    Map<String, Long> now = versions();
                    now.forEach(before::putIfAbsent);
                    return ShopClient.keys().stream()
                            .allMatch(key -> now.containsKey(key) && now.get(key) > before.get(key));
                });
    }

    private Map<String, Long> versions() {
        Map<String, Long> versions = new HashMap<>();
        try {
            site.applications().query(VERSIONS, row -> {
                versions.put(row.getString("key"), row.getLong("version"));
            });
        } catch (DataAccessException ex) {
            // The database is starting.
            return Map.of();
        }
        return versions;
    }

    private CampaignReport judge() {
        List<Call> calls = CallLog.read(fleet.calls());
        recording.store(site.store());
        recording.close();
        Judgement judgement = HistoryJudge.judge(
                Stream.concat(fleet.histories().stream(), Stream.of(directory.resolve("test.history")))
                        .toList(),
                directory,
                plan.notPromised());
        List<String> violations = new ArrayList<>(judgement.violations());
        violations.addAll(CallRules.check(calls));
        violations.addAll(CallRules.hangs(calls, Site.NETWORK_TIMEOUT_MILLIS, absences, tolerance));
        List<Gap> gaps = Gaps.of(calls, absences);
        gaps.stream()
                .filter(gap -> isTooLong(gap, calls))
                .forEach(gap -> violations.add("SERVED: the key " + gap.key() + " had no holder for "
                        + gap.nanos() / MILLI + " ms although somebody waited, from " + gap.from() + ", while "
                        + during(gap)));
        rounds.stream()
                .filter(round -> round.fault.isCalm())
                .forEach(round -> violations.addAll(CalmRules.check(
                        calls,
                        gaps,
                        absences,
                        round.from,
                        round.healed,
                        plan.load().ttlMillis(),
                        tolerance)));
        List<Map<String, Object>> late = site.applications().queryForList(OUT_OF_ORDER);
        late.stream()
                .filter(effect -> !isPlain(effect))
                .forEach(effect -> violations.add(
                        "GUARDED_EFFECTS: a guarded effect was committed after one with a larger fence: " + effect));
        fleet.complaints().forEach(complaint -> violations.add("COMPLAINT: " + complaint));
        if (site.connections() > 0) {
            violations.add("CONNECTIONS: " + site.connections() + " connections of ended processes");
        }
        violations.removeIf(violation -> plan.notPromised().contains(violation.substring(0, violation.indexOf(':'))));
        return new CampaignReport(
                plan.name(),
                site.description(),
                plan.why(),
                LocalDate.now(),
                LocalDate.now(),
                faults.stream().map(fault -> report(fault, calls, gaps)).toList(),
                judgement.operations(),
                calls.size(),
                late.stream().filter(Campaign::isPlain).count(),
                violations,
                directory);
    }

    /** The faults at that time, for somebody who looks for the reason. */
    private List<String> during(Gap gap) {
        return rounds.stream()
                .filter(round -> overlap(gap, round.from, round.recovered) > 0)
                .map(round -> round.fault.name())
                .toList();
    }

    private static boolean isPlain(Map<String, Object> effect) {
        return effect.get("kind").equals(Kind.PLAIN.name());
    }

    /** Longer than a dead holder or a dead waiter explains; the time of a fault, and of a stalled machine, is extra. */
    private boolean isTooLong(Gap gap, List<Call> calls) {
        long faulty = rounds.stream()
                .mapToLong(round -> overlap(gap, round.from, round.healed))
                .sum();
        boolean mayBeDead =
                calls.stream().anyMatch(call -> call.mayLeaveEntry(gap, absences, WAITER_TTL_MILLIS * MILLI));
        // A release may have handed the key over to the dead waiter.
        long lease = mayBeDead
                ? Math.max(plan.load().ttlMillis(), WAITER_TTL_MILLIS)
                : plan.load().ttlMillis();
        // While all processes live, nobody waits for the end of a lease: what is in doubt is released in the
        // background.
        boolean allLive = !absences.isAnyAbsent(gap.from() - plan.load().ttlMillis() * MILLI, gap.to());
        long allowed = (allLive ? Math.min(lease, IN_DOUBT_MILLIS) : lease) + tolerance.toMillis() + RECOVERY_MILLIS;
        return gap.nanos() - faulty - absences.ofMachine(gap.from(), gap.to()) > allowed * MILLI;
    }

    private static long overlap(Gap gap, long from, long to) {
        return Math.max(0, Math.min(gap.to(), to) - Math.max(gap.from(), from));
    }

    private FaultReport report(Fault fault, List<Call> calls, List<Gap> gaps) {
        List<Round> own = rounds.stream().filter(round -> round.fault == fault).toList();
        Map<String, Long> outcomes = new HashMap<>();
        long used = 0;
        for (Call call : calls) {
            if (own.stream().anyMatch(round -> call.start() < round.recovered && call.start() >= round.from)) {
                outcomes.merge(call.outcome(), 1L, Long::sum);
                used++;
            }
        }
        long longest = own.stream()
                .flatMapToLong(round -> gaps.stream()
                        .filter(gap -> overlap(gap, round.from, round.recovered) > 0)
                        .mapToLong(Gap::nanos))
                .max()
                .orElse(0);
        long recovery = own.stream()
                .mapToLong(round -> round.recovered - round.healed)
                .max()
                .orElse(0);
        return new FaultReport(
                fault.row(), fault.name(), own.size(), used, outcomes, longest / MILLI, recovery / MILLI);
    }
}
