package io.syncguard.benchmarks;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Pauses of random length, so that polls of a candidate cannot synchronise with them. */
final class Pauses {

    private static final int SHORTEST_MILLIS = 10;

    private Pauses() {}

    /** Sleeps for a random time up to this one. Does not sleep if it is zero. */
    static void pause(int longestMillis) throws InterruptedException {
        if (longestMillis > 0) {
            TimeUnit.MILLISECONDS.sleep(
                    ThreadLocalRandom.current().nextLong(Math.min(SHORTEST_MILLIS, longestMillis), longestMillis + 1L));
        }
    }
}
