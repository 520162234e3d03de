package io.syncguard.actuate;

import io.syncguard.LockSummary;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All locks of a store in numbers, whatever was asked for.
 *
 * @param totals {@code null} if the store was never read
 * @param queues the keys with a queue, the longest wait first: {@value LockSummary#MAX_QUEUES} at most
 * @param age how long ago the store was read; {@code null} if it was not
 * @param problem why this is old or missing; {@code null} if it is neither
 */
public record SummaryDescriptor(
        @Nullable Totals totals,
        List<LockDescriptor> queues,
        @Nullable Duration age,
        @Nullable String problem) {

    /**
     * The numbers.
     *
     * @param locked how many keys have a live lease
     * @param leases how many live leases they have
     * @param waitedFor how many keys have a queue
     * @param waiters how many wait for them
     * @param longestHold how long the oldest live lease is held
     * @param longestWait how long somebody has waited at most
     */
    public record Totals(
            long locked, long leases, long waitedFor, long waiters, Duration longestHold, Duration longestWait) {}

    static SummaryDescriptor of(ListedLocks read, @Nullable Duration age, @Nullable String problem, LocalView local) {
        LockSummary summary = read.summary();
        return new SummaryDescriptor(
                summary == null ? null : totals(summary),
                read.locks().stream()
                        .map(lock -> LockDescriptor.of(lock, List.of(), local))
                        .toList(),
                age,
                problem);
    }

    private static Totals totals(LockSummary summary) {
        return new Totals(
                summary.locked(),
                summary.leases(),
                summary.waitedFor(),
                summary.waiters(),
                summary.longestHold(),
                summary.longestWait());
    }
}
