package io.syncguard.benchmarks;

/** A measurement that compares candidates. */
@FunctionalInterface
interface Measurement {

    /** Measures and reports. */
    void run(Arena arena) throws Exception;
}
