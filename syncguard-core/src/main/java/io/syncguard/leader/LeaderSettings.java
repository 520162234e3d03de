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
 */
public final class LeaderSettings {

    /**
     * Fifteen seconds: after a crash the next leader is elected within 16 s, and a leader survives pauses of up to ten
     * seconds.
     */
    public static final Duration DEFAULT_TTL = Duration.ofSeconds(15);

    private final Values values;

    private LeaderSettings(Values values) {
        this.values = values;
    }

    /** The defaults of {@code syncguard.leader.*}. */
    public static LeaderSettings defaults() {
        return of(DEFAULT_TTL);
    }

    /**
     * With a heartbeat and a new fence every third of the ttl.
     *
     * @param ttl whole milliseconds from 3 ms to 365 days
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} for another one; as each method here does
     */
    public static LeaderSettings of(Duration ttl) {
        Duration third = LockLimits.ttlWithHeartbeat(ttl).dividedBy(3);
        return new LeaderSettings(new Values(ttl, third, third, null));
    }

    /** @param interval from 1 ms to a third of the ttl */
    public LeaderSettings heartbeat(Duration interval) {
        return new LeaderSettings(new Values(ttl(), interval, fenceRotation(), owner()));
    }

    /** @param period up to half of the ttl; zero turns rotation off: a term has the fence of its election to its end */
    public LeaderSettings fenceRotation(Duration period) {
        return new LeaderSettings(new Values(ttl(), heartbeat(), period, owner()));
    }

    /** @param owner at most {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes */
    public LeaderSettings owner(String owner) {
        return new LeaderSettings(new Values(ttl(), heartbeat(), fenceRotation(), owner));
    }

    /**
     * How long the leader leads without an extension. After a crash the next leader is elected one second later. A
     * longer pause of the process ends its leadership.
     */
    public Duration ttl() {
        return values.ttl;
    }

    /** How often the lease is extended: every 1 ms to every third of the ttl. */
    public Duration heartbeat() {
        return values.heartbeat;
    }

    /** How often an extension takes the next fence: at most half of the ttl, zero for never. */
    public Duration fenceRotation() {
        return values.fenceRotation;
    }

    /** The label of the leader, as lookups show it; {@code null} for that of the process. */
    public @Nullable String owner() {
        return values.owner;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LeaderSettings settings && values.equals(settings.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString().replaceFirst("Values", "LeaderSettings");
    }

    private record Values(
            Duration ttl,
            Duration heartbeat,
            Duration fenceRotation,
            @Nullable String owner) {

        Values {
            LockLimits.heartbeat(heartbeat, LockLimits.ttlWithHeartbeat(ttl));
            // A failed rotation must be tried again before the lease can end.
            if (LockLimits.requireNonNull("fence rotation", fenceRotation).isNegative()
                    || fenceRotation.compareTo(ttl.dividedBy(2)) > 0) {
                throw new LockException(
                        LockErrorCode.INVALID_ARGUMENT,
                        "fence rotation is " + MessageText.of(fenceRotation) + ", but has to be at most "
                                + MessageText.of(ttl.dividedBy(2).truncatedTo(ChronoUnit.MILLIS))
                                + ", half of the ttl ("
                                + MessageText.of(ttl)
                                + "). Zero turns it off");
            }
            if (owner != null) {
                owner = LockLimits.owner(owner);
            }
        }
    }
}
