package io.syncguard.check;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Steps of a check that write to the server, one at a time. None begins when the check is to end. */
final class Writing {

    private static final Semaphore FREE = new Semaphore(1);

    private static final int LONGEST_STEP_SECONDS = 10;

    private Writing() {}

    static void begin() {
        FREE.acquireUninterruptibly();
    }

    static void end() {
        FREE.release();
    }

    /** Waits for the end of the running step, and lets no other begin, for a process that ends. */
    static void stop() {
        try {
            FREE.tryAcquire(LONGEST_STEP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
