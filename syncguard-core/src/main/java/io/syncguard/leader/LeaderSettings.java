package io.syncguard.leader;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.MessageText;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a member leads. Immutable; each method returns a changed copy. Members of one election may differ.
 *
 * <pre>{@code
 * LeaderSettings.of(Duration.ofSeconds(15)).fenceRotation(Duration.ZERO)
 * }</pre>
 *
 * @param ttl how long the leader leads without an extension. After a crash the next leader is elected one second later.
 *     A longer pause of the process ends its leadership
 * @param heartbeat how often the lease is extended: at most every third of the ttl
 * @param fenceRotation how often an extension takes the next fence: at most half of the ttl, zero for never
 * @param owner the label of the leader, for people; {@code null} for that of the process
 */
public record LeaderSettings(
        Duration ttl,
        Duration heartbeat,
        Duration fenceRotation,
        @Nullable String owner) {

    /**
     * Fifteen seconds: after a crash the next leader is elected within 16 s, and a leader survives pauses of up to ten
     * seconds.
     */
    public static final Duration DEFAULT_TTL = Duration.ofSeconds(15);

    public LeaderSettings {
        LockLimits.heartbeat(heartbeat, LockLimits.ttl(ttl));
        // A failed rotation must be tried again before the lease can end.
        if (LockLimits.given("fence rotation", fenceRotation).isNegative()
                || fenceRotation.compareTo(ttl.dividedBy(2)) > 0) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "fence rotation is " + MessageText.of(fenceRotation) + ", but has to be at most "
                            + MessageText.of(ttl.dividedBy(2).truncatedTo(ChronoUnit.MILLIS)) + ", half of the ttl ("
                            + MessageText.of(ttl)
                            + "). Zero turns it off");
        }
        if (owner != null) {
            owner = LockLimits.owner(owner);
        }
    }

    /** The defaults of {@code syncguard.leader.*}. */
    public static LeaderSettings defaults() {
        return of(DEFAULT_TTL);
    }

    /** With a heartbeat and a new fence every third of the ttl. */
    public static LeaderSettings of(Duration ttl) {
        Duration third = LockLimits.ttl(ttl).dividedBy(3);
        return new LeaderSettings(ttl, third, third, null);
    }

    public LeaderSettings heartbeat(Duration interval) {
        return new LeaderSettings(ttl, interval, fenceRotation, owner);
    }

    /** @param period zero turns rotation off: a term has the fence of its election to its end */
    public LeaderSettings fenceRotation(Duration period) {
        return new LeaderSettings(ttl, heartbeat, period, owner);
    }

    public LeaderSettings owner(String owner) {
        return new LeaderSettings(ttl, heartbeat, fenceRotation, owner);
    }

    boolean rotatesFence() {
        return !fenceRotation.isZero();
    }
}
