package io.syncguard.benchmarks;

/** Something that is measured side by side. */
@FunctionalInterface
interface Measurement {

    /** Measures and reports. */
    void run(Arena arena) throws Exception;
}
