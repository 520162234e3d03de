package io.syncguard.verification.matrix;

import java.util.Random;

/**
 * A fault of the matrix, as one site has it.
 *
 * @param row of the matrix
 * @param name what happens, in the words of the report
 * @param injection injects it once, and heals it
 * @param share of the rounds: 1 is all of them, 4 is a quarter, for a fault that takes long
 * @param isCrash whether the server loses what it has not written to its disk
 */
record Fault(int row, String name, Injection injection, int share, boolean isCrash) {

    private static final int CALM = 0;
    private static final long CALM_MILLIS = 4000;

    @FunctionalInterface
    interface Injection {

        /** Returns when the fault is over. */
        void inject(Random random) throws Exception;
    }

    /** No fault: for a few seconds the library has no excuse. */
    static Fault calm() {
        return of(CALM, "nothing happens", random -> LinkFaults.pause(random, CALM_MILLIS, CALM_MILLIS + 1));
    }

    boolean isCalm() {
        return row == CALM;
    }

    static Fault of(int row, String name, Injection injection) {
        return new Fault(row, name, injection, 1, false);
    }

    /** One that kills the server. */
    static Fault crash(int row, String name, Injection injection) {
        return new Fault(row, name, injection, 1, true);
    }

    /** One that takes long: fewer rounds. */
    Fault everyNth(int share) {
        return new Fault(row, name, injection, share, isCrash);
    }

    int rounds(int all) {
        return Math.max(1, all / share);
    }
}
