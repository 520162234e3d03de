package io.syncguard.verification.planted;

import io.syncguard.testing.ChangedLibrary;
import io.syncguard.testing.ChangedLibrary.Edit;
import io.syncguard.verification.Trial;
import io.syncguard.verification.Trial.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A bug of a lock, and the run that has to catch it.
 *
 * @param name on the command line, and of the file with its edits of our sources
 * @param what the bug is, in a few words
 * @param trial is repeated until it finds a violation
 */
record PlantedBug(String name, String what, Trial trial) {

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** In a file of edits, before the name of a source. */
    private static final String EDIT = "@@ ";

    /** In a file of edits, between the text that is there and the one that replaces it. */
    private static final String REPLACED_BY = "\n==\n";

    /**
     * What caught it.
     *
     * @param rules that were broken
     * @param violation the first of them
     * @param operations requests to the store until then
     * @param seconds from the start of the first process
     */
    record Catch(Set<String> rules, String violation, long operations, double seconds) {}

    /** Plants it and repeats the trial, which begins for these seconds. Empty if it was not found. */
    Optional<Catch> hunt(long seed, int seconds) throws Exception {
        return hunt(trial, ChangedLibrary.with(edits()), seed, seconds);
    }

    static Optional<Catch> hunt(Trial trial, ChangedLibrary library, long seed, int seconds) throws Exception {
        long from = System.nanoTime();
        long operations = 0;
        for (long run = 0; secondsSince(from) < seconds; run++) {
            Verdict verdict = trial.run(library, seed + run);
            operations += verdict.operations();
            if (!verdict.violations().isEmpty()) {
                return Optional.of(new Catch(
                        verdict.violations().stream()
                                .map(PlantedBug::rule)
                                .collect(Collectors.toCollection(LinkedHashSet::new)),
                        verdict.violations().get(0),
                        operations,
                        secondsSince(from)));
            }
        }
        return Optional.empty();
    }

    List<Edit> edits() throws IOException {
        try (InputStream file = PlantedBug.class.getResourceAsStream("/planted/" + name + ".edit")) {
            String text = "\n" + new String(file.readAllBytes(), StandardCharsets.UTF_8);
            return Stream.of(text.split("\n" + EDIT))
                    .skip(1)
                    .map(PlantedBug::edit)
                    .toList();
        }
    }

    private static Edit edit(String text) {
        int from = text.indexOf('\n') + 1;
        int to = (text + "\n").indexOf(REPLACED_BY);
        String after = (text + "\n").substring(to + REPLACED_BY.length());
        return new Edit(text.substring(0, from - 1), text.substring(from, to), after.stripTrailing());
    }

    /** A violation begins with the name of its rule. */
    private static String rule(String violation) {
        return violation.substring(0, Math.max(0, violation.indexOf(':')));
    }

    private static double secondsSince(long from) {
        return (System.nanoTime() - from) / (double) NANOS_PER_SECOND;
    }

    @Override
    public String toString() {
        return name;
    }
}
