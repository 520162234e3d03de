package io.syncguard.verification.matrix;

import java.util.Map;
import java.util.TreeMap;

/**
 * What happened under one fault.
 *
 * @param rounds how often it was injected
 * @param calls that began in its rounds
 * @param outcomes of these, by name
 * @param longestGapMillis the longest time a key had no holder although somebody waited
 * @param longestRecoveryMillis the longest time from the end of the fault until every key was used again
 */
record FaultReport(
        int row,
        String name,
        int rounds,
        long calls,
        Map<String, Long> outcomes,
        long longestGapMillis,
        long longestRecoveryMillis) {

    /** Both together. */
    FaultReport plus(FaultReport other) {
        Map<String, Long> sum = new TreeMap<>(outcomes);
        other.outcomes.forEach((outcome, count) -> sum.merge(outcome, count, Long::sum));
        return new FaultReport(
                row,
                name,
                rounds + other.rounds,
                calls + other.calls,
                sum,
                Math.max(longestGapMillis, other.longestGapMillis),
                Math.max(longestRecoveryMillis, other.longestRecoveryMillis));
    }
}
