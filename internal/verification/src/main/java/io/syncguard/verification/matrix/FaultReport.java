package io.syncguard.verification.matrix;

import java.util.Map;
import java.util.TreeMap;

/**
 * The observations under one fault.
 *
 * @param rounds how often the fault was injected
 * @param calls number of calls that began in its rounds
 * @param outcomes number of these calls by outcome
 * @param longestGapMillis the longest time in which a key had a waiter but no holder
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

    /** The sum of both reports. */
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
