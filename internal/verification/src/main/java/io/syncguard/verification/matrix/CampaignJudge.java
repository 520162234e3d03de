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

/** Judges the calls and requests of a campaign after all its processes have ended. */
final class CampaignJudge {

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

    /** @param tolerance added to the promised times, for other load on the machine */
    CampaignJudge(Plan<?> plan, Site site, Absences absences, List<Round> rounds, Duration tolerance) {
        this.plan = plan;
        this.site = site;
        this.absences = absences;
        this.rounds = rounds;
        this.tolerance = tolerance;
    }

    /**
     * @param faults the faults to report
     * @param directory the directory with the histories
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
        violations.addAll(
                new ServedRule(site, plan.load().ttlMillis(), absences, rounds, tolerance).check(calls, gaps));
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
