package io.syncguard.verification.planted;

import io.syncguard.verification.ChangedLibrary;
import io.syncguard.verification.ChangedLibrary.Edit;
import io.syncguard.verification.Trial;
import io.syncguard.verification.Trial.Verdict;
import java.util.List;
import java.util.Optional;

/**
 * A bug of a lock, as a change of our sources, with the run that has to catch it.
 *
 * @param name for the command line
 * @param what the bug is, in a few words
 * @param edits plant it
 * @param trial is repeated until it finds a violation
 */
public record PlantedBug(String name, String what, Trial trial, List<Edit> edits) {

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    PlantedBug(String name, String what, Trial trial, Edit... edits) {
        this(name, what, trial, List.of(edits));
    }

    /**
     * What caught it.
     *
     * @param violation the first of the run
     * @param operations requests to the store until then
     * @param seconds from the start of the first process
     */
    public record Catch(String violation, long operations, double seconds) {}

    /** @return empty if nothing was found after these seconds */
    public Optional<Catch> hunt(long seed, int seconds) throws Exception {
        ChangedLibrary library = ChangedLibrary.with(edits);
        long from = System.nanoTime();
        long operations = 0;
        for (long run = 0; secondsSince(from) < seconds; run++) {
            Verdict verdict = trial.run(library, seed + run);
            operations += verdict.operations();
            if (!verdict.violations().isEmpty()) {
                return Optional.of(new Catch(verdict.violations().get(0), operations, secondsSince(from)));
            }
        }
        return Optional.empty();
    }

    private static double secondsSince(long from) {
        return (System.nanoTime() - from) / (double) NANOS_PER_SECOND;
    }

    @Override
    public String toString() {
        return name;
    }
}
