package io.syncguard.embedded;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Polls a condition, because a server does not report its progress. */
final class Patience {

    private static final long PAUSE_MILLIS = 50;

    private Patience() {}

    /**
     * Waits until the condition holds, the time is over, or this thread is interrupted.
     *
     * @return whether it holds
     */
    static boolean await(Duration limit, BooleanSupplier condition) {
        try {
            return poll(limit, () -> condition.getAsBoolean() ? true : null) != null;
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return condition.getAsBoolean();
        }
    }

    /** The first answer of the attempt that is not {@code null}; {@code null} when the time is over. */
    static <T> @Nullable T poll(Duration limit, Supplier<@Nullable T> attempt) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        T answer = attempt.get();
        while (answer == null && System.nanoTime() - deadline < 0) {
            Thread.sleep(PAUSE_MILLIS);
            answer = attempt.get();
        }
        return answer;
    }

    /** Waits for the condition. Fails if it does not hold within a minute. */
    static void awaitOrFail(BooleanSupplier condition) {
        if (!await(Duration.ofMinutes(1), condition)) {
            throw new IllegalStateException("The servers do not find together");
        }
    }
}
