package io.syncguard.postgres;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.spi.FenceSettings;
import java.time.Duration;

/**
 * Settings of the PostgreSQL backend.
 *
 * @param tables the names of the tables
 * @param timeout maximum wait for an answer of the server
 * @param waiterTtl how long a queue entry lives without a renewal
 * @param cleanupInterval the pause between two sweeps, at least a minute; zero for no sweeps
 * @param cleanupInIsLocked whether a lapsed lease that {@code isLocked} found is swept after the answer
 * @param fences how fences are drawn; the script was run with the same source
 */
public record PostgresSettings(
        PostgresTables tables,
        Duration timeout,
        Duration waiterTtl,
        Duration cleanupInterval,
        boolean cleanupInIsLocked,
        FenceSettings fences) {

    /** Maximum time for which a dead waiter delays those behind it: five seconds. */
    public static final Duration WAITER_TTL = Duration.ofSeconds(5);

    private static final Duration SHORTEST_INTERVAL = Duration.ofMinutes(1);

    private static final Duration LONGEST_INTERVAL = Duration.ofDays(365);

    public PostgresSettings {
        boolean off = cleanupInterval.isZero();
        if (!off
                && (cleanupInterval.compareTo(SHORTEST_INTERVAL) < 0
                        || cleanupInterval.compareTo(LONGEST_INTERVAL) > 0)) {
            throw LockSetupException.invalid(
                    "syncguard.postgres.cleanup-interval is " + MessageText.of(cleanupInterval)
                            + ", but has to be between 1m and 365d, or 0 for no clean-up",
                    "Correct syncguard.postgres.cleanup-interval");
        }
    }
}
