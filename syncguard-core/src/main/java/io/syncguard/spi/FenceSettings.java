package io.syncguard.spi;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.time.Duration;

/**
 * How a backend draws fences.
 *
 * @param source where they come from
 * @param retention how long a counter is idle before it is forgotten, if fences come from the clock; 1 to 3650 days. It
 *     has to be longer than any step back of the server's clock: behind a forgotten counter, a fence is as large as the
 *     clock says
 */
public record FenceSettings(FenceSource source, Duration retention) {

    /** The default retention, a week. */
    public static final Duration RETENTION = Duration.ofDays(7);

    private static final Duration SHORTEST_RETENTION = Duration.ofDays(1);

    private static final Duration LONGEST_RETENTION = Duration.ofDays(3650);

    /** @throws io.syncguard.LockSetupException if the retention is out of these limits */
    public FenceSettings {
        if (retention.compareTo(SHORTEST_RETENTION) < 0 || retention.compareTo(LONGEST_RETENTION) > 0) {
            throw LockSetupException.invalid(
                    "syncguard.fence-retention is " + MessageText.of(retention) + ", but has to be between "
                            + MessageText.of(SHORTEST_RETENTION) + " and " + MessageText.of(LONGEST_RETENTION)
                            + ", longer than any step back of the server's clock",
                    "Correct syncguard.fence-retention");
        }
    }

    /** From this source, with the default retention. */
    public static FenceSettings from(FenceSource source) {
        return new FenceSettings(source, RETENTION);
    }
}
