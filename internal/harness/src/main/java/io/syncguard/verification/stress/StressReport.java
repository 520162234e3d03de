package io.syncguard.verification.stress;

import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.Violation;
import java.util.List;
import java.util.Map;

/**
 * The result of a run.
 *
 * @param counts number of events by kind and outcome
 * @param operations number of answered calls
 * @param seconds from the first start of a process to the last end
 * @param secondsOfChecking the time of the checker after that
 * @param effects number of writes stamped with a fence
 * @param lateGuarded number of guarded writes after one with a larger fence, which the guard should refuse
 * @param lateUnguarded number of unguarded writes after one with a larger fence, made by paused holders
 * @param leasesWithoutEnd number of leases that last longer than any ttl
 * @param complaints lines that the workers should not have printed
 */
public record StressReport(
        StressSettings settings,
        List<Violation> violations,
        Map<String, Long> counts,
        long operations,
        long seconds,
        long secondsOfChecking,
        long effects,
        long lateGuarded,
        long lateUnguarded,
        long leasesWithoutEnd,
        List<String> complaints) {

    public boolean isClean() {
        return violations.isEmpty() && complaints.isEmpty();
    }

    long count(String kindAndOutcome) {
        return counts.getOrDefault(kindAndOutcome, 0L);
    }

    @Override
    public String toString() {
        return "stress with -Dsyncguard.stress.seed=" + settings.seed() + ": " + operations + " operations of "
                + settings.workers() + " processes in " + seconds + " s, checked in " + secondsOfChecking + " s; "
                + violations.size() + " violations; " + effects + " writes, " + lateUnguarded
                + " of the unguarded ones late; " + counts;
    }
}
