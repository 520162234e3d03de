package io.syncguard.verification;

import io.syncguard.verification.bugs.Bug;
import java.util.List;

/** Runs the harness on the library, with or without a planted bug. Each call is a separate run. */
@FunctionalInterface
public interface Trial {

    /**
     * The result of one run.
     *
     * @param operations requests to the store
     * @param violations as text; empty if the run found none
     */
    record Verdict(long operations, List<String> violations) {}

    /** @param seed of all random choices */
    Verdict run(Bug bug, long seed) throws Exception;
}
