package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Call.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Judges the calls of all clients only by what the clients saw: a fenced lock for readers and writers. It shares no
 * code with the checker of the histories, which knows the requests to the server.
 */
final class CallRules {

    private static final long MILLI = 1_000_000;

    private final List<String> violations = new ArrayList<>();

    /** The violations of the rules that hold at all times, under every fault. */
    static List<String> check(List<Call> calls) {
        CallRules rules = new CallRules();
        calls.stream().collect(Collectors.groupingBy(Call::key)).values().forEach(rules::checkKey);
        return rules.violations;
    }

    private void checkKey(List<Call> ofKey) {
        List<Call> grants = ofKey.stream()
                .filter(Call::isGranted)
                .sorted(Comparator.comparingLong(Call::fence))
                .toList();
        fencesAreUnique(grants);
        fencesGrow(grants);
        holdersAreAlone(grants);
        permitsAreKept(grants);
    }

    private void fencesAreUnique(List<Call> grants) {
        Set<Long> seen = new HashSet<>();
        grants.stream()
                .filter(grant -> !seen.add(grant.fence()))
                .forEach(grant -> violations.add(
                        "FENCE_ORDER: fence " + grant.fence() + " was granted twice\n    " + grant.toLine()));
    }

    /** A call that began after a client had seen a grant gets a larger fence. */
    private void fencesGrow(List<Call> byFence) {
        long latestStart = Long.MIN_VALUE;
        Call latest = null;
        for (Call grant : byFence) {
            if (latest != null && grant.granted() < latestStart) {
                violations.add("FENCE_ORDER: a later grant has a smaller fence\n    " + latest.toLine() + "\n    "
                        + grant.toLine());
            }
            if (grant.start() > latestStart) {
                latestStart = grant.start();
                latest = grant;
            }
        }
    }

    /** While one handle reports that it is held, no other does, unless both are shared. */
    private void holdersAreAlone(List<Call> grants) {
        List<Call> byTime = grants.stream()
                .filter(grant -> grant.held() > grant.granted())
                .sorted(Comparator.comparingLong(Call::granted))
                .toList();
        Call longest = null;
        Call longestWriter = null;
        for (Call grant : byTime) {
            Call before = grant.kind().isShared() ? longestWriter : longest;
            if (before != null && before.held() > grant.granted()) {
                violations.add("ONE_HOLDER: two conflicting handles were held at one time\n    " + before.toLine()
                        + "\n    " + grant.toLine());
            }
            longest = later(longest, grant);
            if (!grant.kind().isShared()) {
                longestWriter = later(longestWriter, grant);
            }
        }
    }

    /** When a permit is granted, fewer handles with smaller fences are still held than there are permits. */
    private void permitsAreKept(List<Call> byFence) {
        for (int i = 0; i < byFence.size(); i++) {
            Call grant = byFence.get(i);
            long there = grant.kind() != Kind.PERMIT
                    ? 0
                    : byFence.subList(0, i).stream()
                            .filter(other -> other.kind().isShared() && other.held() > grant.granted())
                            .count();
            if (there >= Call.PERMITS) {
                violations.add("PERMITS: one of " + Call.PERMITS + " permits was granted while " + there
                        + " handles were held\n    " + grant.toLine());
            }
        }
    }

    private static Call later(Call one, Call other) {
        return one == null || other.held() > one.held() ? other : one;
    }

    /**
     * Returns the calls that took longer than their wait time plus one network timeout. Time in which the process or
     * the whole machine stood still does not count.
     *
     * @param tolerance added to this limit
     */
    static List<String> hangs(List<Call> calls, long networkTimeoutMillis, Absences absences, Duration tolerance) {
        return calls.stream()
                .filter(call -> call.isGranted() || call.end() != 0)
                .filter(call -> {
                    long answered = call.isGranted() ? call.granted() : call.end();
                    long took = answered - call.start() - absences.within(call.process(), call.start(), answered);
                    return took > (call.waitMillis() + networkTimeoutMillis) * MILLI + tolerance.toNanos();
                })
                .map(call -> "NO_CALL_HANGS: a call was answered too late\n    " + call.toLine())
                .toList();
    }
}
