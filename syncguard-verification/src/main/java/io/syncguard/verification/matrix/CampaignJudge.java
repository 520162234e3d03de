package io.syncguard.verification.matrix;

import io.syncguard.verification.history.HistoryJudge;
import io.syncguard.verification.history.HistoryJudge.Judgement;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Gaps.Gap;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Judges what the processes of a campaign did, when all have ended. */
final class CampaignJudge {

    private static final long WAITER_TTL_MILLIS = 5000;
    private static final long RECOVERY_MILLIS = 500;

    /** Two network timeouts, in which the release of an acquire in doubt arrives. */
    private static final long IN_DOUBT_MILLIS = 2 * Site.NETWORK_TIMEOUT_MILLIS;

    private static final long MILLI = 1_000_000;

    private static final String OUT_OF_ORDER = """
            SELECT key, kind, fence, largest, committed FROM (
                SELECT key, kind, fence, pg_xact_commit_timestamp(xmin)::TEXT AS committed, max(fence) OVER (
                    PARTITION BY key, kind = 'FENCED', kind = 'PLAIN' ORDER BY pg_xact_commit_timestamp(xmin), id
                ) AS largest FROM effects
            ) AS effects WHERE fence < largest
            """;

    private final Plan<?> plan;
    private final Site site;
    private final Absences absences;
    private final List<Round> rounds;
    private final Duration tolerance;

    /** @param tolerance beyond the promised times, for what else the machine does */
    CampaignJudge(Plan<?> plan, Site site, Absences absences, List<Round> rounds, Duration tolerance) {
        this.plan = plan;
        this.site = site;
        this.absences = absences;
        this.rounds = rounds;
        this.tolerance = tolerance;
    }

    /**
     * @param faults to report
     * @param directory with the histories
     */
    CampaignReport judge(List<Fault> faults, Fleet fleet, Path directory) {
        List<Call> calls = CallLog.read(fleet.calls());
        List<Gap> gaps = Gaps.of(calls, absences);
        Judgement judgement = HistoryJudge.judge(
                Stream.concat(fleet.histories().stream(), Stream.of(directory.resolve("test.history")))
                        .toList(),
                directory,
                plan.notPromised());
        List<Map<String, Object>> late = site.applications().queryForList(OUT_OF_ORDER);
        List<String> violations = new ArrayList<>(judgement.violations());
        violations.addAll(CallRules.check(calls));
        violations.addAll(CallRules.hangs(calls, Site.NETWORK_TIMEOUT_MILLIS, absences, tolerance));
        violations.addAll(unserved(calls, gaps));
        violations.addAll(whileCalm(calls, gaps));
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
                late.stream().filter(CampaignJudge::isPlain).count(),
                violations,
                directory);
    }

    private static boolean isPlain(Map<String, Object> effect) {
        return effect.get("kind").equals(Kind.PLAIN.name());
    }

    private List<String> unserved(List<Call> calls, List<Gap> gaps) {
        return gaps.stream()
                .filter(gap -> isTooLong(gap, calls))
                .map(gap -> "SERVED: the key " + gap.key() + " had no holder for " + gap.nanos() / MILLI
                        + " ms although somebody waited, from " + gap.from() + ", while " + during(gap))
                .toList();
    }

    /**
     * Longer than a dead holder or a dead waiter explains. The time of a fault, of the pause before the next attempt to
     * connect, and of a stalled machine is extra.
     */
    private boolean isTooLong(Gap gap, List<Call> calls) {
        long least = tolerance.toMillis() + RECOVERY_MILLIS;
        if (gap.nanos() <= least * MILLI) {
            return false;
        }
        long faulty = rounds.stream()
                .mapToLong(round -> gap.overlap(round.from(), connected(round)))
                .sum();
        boolean mayBeDead = site.bringsBackEnded()
                || calls.stream().anyMatch(call -> call.mayLeaveEntry(gap, absences, WAITER_TTL_MILLIS * MILLI));
        // A release may have handed the key over to the dead waiter.
        long lease = mayBeDead
                ? Math.max(plan.load().ttlMillis(), WAITER_TTL_MILLIS)
                : plan.load().ttlMillis();
        // While all processes live, nobody waits for the end of a lease: what is in doubt is released in the
        // background.
        boolean allLive = !site.bringsBackEnded()
                && !absences.isAnyAbsent(gap.from() - plan.load().ttlMillis() * MILLI, gap.to());
        long allowed = (allLive ? Math.min(lease, IN_DOUBT_MILLIS) : lease) + least;
        return gap.nanos() - faulty - absences.ofMachine(gap.from(), gap.to()) > allowed * MILLI;
    }

    /** When all processes have tried to connect again. */
    private long connected(Round round) {
        return round.healed() + site.longestPauseAfter((round.healed() - round.from()) / MILLI) * MILLI;
    }

    /** The faults at that time, for somebody who looks for the reason. */
    private List<String> during(Gap gap) {
        return rounds.stream()
                .filter(round -> round.overlaps(gap))
                .map(round -> round.fault().name())
                .toList();
    }

    private List<String> whileCalm(List<Call> calls, List<Gap> gaps) {
        return rounds.stream()
                .filter(round -> round.fault().isCalm())
                .flatMap(round ->
                        CalmRules.check(
                                calls, gaps, absences, round, plan.load().ttlMillis(), tolerance)
                                .stream())
                .toList();
    }

    private FaultReport report(Fault fault, List<Call> calls, List<Gap> gaps) {
        List<Round> own =
                rounds.stream().filter(round -> round.fault() == fault).toList();
        Map<String, Long> outcomes = new HashMap<>();
        long used = 0;
        for (Call call : calls) {
            if (own.stream().anyMatch(round -> call.start() < round.recovered() && call.start() >= round.from())) {
                outcomes.merge(call.outcome(), 1L, Long::sum);
                used++;
            }
        }
        long longest = own.stream()
                .flatMapToLong(round -> gaps.stream().filter(round::overlaps).mapToLong(Gap::nanos))
                .max()
                .orElse(0);
        long recovery = own.stream()
                .mapToLong(round -> round.recovered() - round.healed())
                .max()
                .orElse(0);
        return new FaultReport(
                fault.row(), fault.name(), own.size(), used, outcomes, longest / MILLI, recovery / MILLI);
    }
}
