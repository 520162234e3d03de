package io.syncguard.verification.planted;

import io.syncguard.verification.Trial;
import io.syncguard.verification.Trial.Verdict;
import io.syncguard.verification.bugs.Bug;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A bug, and the run that has to catch it.
 *
 * @param trial is repeated until it finds a violation
 */
record Hunt(Bug bug, Trial trial) {

    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * What caught it.
     *
     * @param rules that were broken
     * @param violation the first of them
     * @param operations requests to the store until then
     * @param seconds from the start of the first process
     */
    record Catch(Set<String> rules, String violation, long operations, double seconds) {}

    /** Repeats the trial, which begins for these seconds. Empty if nothing was found. */
    Optional<Catch> run(long seed, int seconds) throws Exception {
        long from = System.nanoTime();
        long operations = 0;
        for (long run = 0; secondsSince(from) < seconds; run++) {
            Verdict verdict = trial.run(bug, seed + run);
            operations += verdict.operations();
            if (!verdict.violations().isEmpty()) {
                return Optional.of(new Catch(
                        verdict.violations().stream()
                                .map(Hunt::rule)
                                .collect(Collectors.toCollection(LinkedHashSet::new)),
                        verdict.violations().get(0),
                        operations,
                        secondsSince(from)));
            }
        }
        return Optional.empty();
    }

    /** A violation begins with the name of its rule. */
    private static String rule(String violation) {
        return violation.substring(0, Math.max(0, violation.indexOf(':')));
    }

    private static double secondsSince(long from) {
        return (System.nanoTime() - from) / NANOS_PER_SECOND;
    }

    @Override
    public String toString() {
        return bug.toString();
    }
}
