package io.syncguard.verification.matrix;

import java.util.Random;

/**
 * A fault of the matrix on one site.
 *
 * @param row the row of the matrix
 * @param name a description for the report
 * @param injection injects the fault once, and heals it
 * @param share divides the number of rounds: 1 for all rounds, 4 for a quarter, for a fault that takes long
 * @param isCrash whether the server loses the changes that it has not written to its disk
 */
record Fault(int row, String name, Injection injection, int share, boolean isCrash) {

    private static final int CALM = 0;
    private static final long CALM_MILLIS = 4000;

    @FunctionalInterface
    interface Injection {

        /** Returns when the fault is over. */
        void inject(Random random) throws Exception;
    }

    /** A few seconds without a fault, in which the library must lose and delay nothing. */
    static Fault calm() {
        return of(CALM, "nothing happens", random -> LinkFaults.pause(random, CALM_MILLIS, CALM_MILLIS + 1));
    }

    boolean isCalm() {
        return row == CALM;
    }

    static Fault of(int row, String name, Injection injection) {
        return new Fault(row, name, injection, 1, false);
    }

    /** A fault that kills the server. */
    static Fault crash(int row, String name, Injection injection) {
        return new Fault(row, name, injection, 1, true);
    }

    /** Returns the fault with fewer rounds, because it takes long. */
    Fault everyNth(int share) {
        return new Fault(row, name, injection, share, isCrash);
    }

    int rounds(int all) {
        return Math.max(1, all / share);
    }
}
