package io.syncguard.verification.matrix;

import java.util.Map;

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
        long longestRecoveryMillis) {}
