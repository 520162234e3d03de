package io.syncguard.embedded;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Polls a condition, because a server does not report what it has done. */
final class Patience {

    private static final long PAUSE_MILLIS = 50;

    private Patience() {}

    /**
     * Returns when the condition holds, the time is over, or this thread is interrupted.
     *
     * @return whether it holds
     */
    static boolean await(Duration limit, BooleanSupplier condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
                Thread.sleep(PAUSE_MILLIS);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return condition.getAsBoolean();
    }

    /** Fails where the condition does not hold within a minute. */
    static void awaitOrFail(BooleanSupplier condition) {
        if (!await(Duration.ofMinutes(1), condition)) {
            throw new IllegalStateException("The servers do not find together");
        }
    }
}
