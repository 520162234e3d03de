package io.syncguard.verification;

import io.syncguard.verification.bugs.Bug;
import java.util.List;

/** A run of the harness on a library with a bug, or with none. Each call is a run of its own. */
@FunctionalInterface
public interface Trial {

    /**
     * What one run found.
     *
     * @param operations requests to the store
     * @param violations as text; empty if the library seems to be right
     */
    record Verdict(long operations, List<String> violations) {}

    /** @param seed of all random choices */
    Verdict run(Bug bug, long seed) throws Exception;
}
