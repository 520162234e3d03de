package io.syncguard.verification;

import io.syncguard.testing.ChangedLibrary;
import java.util.List;

/** A run of the harness on a library that may have a bug. Each call is a run of its own. */
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
    Verdict run(ChangedLibrary library, long seed) throws Exception;
}
