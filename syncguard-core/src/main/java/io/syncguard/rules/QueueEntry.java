package io.syncguard.rules;

import io.syncguard.LockStatus;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The row of a waiter. Times are milliseconds of the store's clock.
 *
 * @param lockId the secret of its waiter, by which a key has one row at most
 * @param handOver whether a release may grant the key to the waiter directly
 * @param channel where the waiter's process receives messages; {@code null} if it receives none
 * @param waiterNumber the number of the waiter, from its last request
 * @param expiresAt the end, unless it is renewed; without a tolerance
 */
public record QueueEntry(
        String lockId,
        LeaseKind kind,
        String owner,
        boolean handOver,
        @Nullable String channel,
        long waiterNumber,
        long arrivedAt,
        long expiresAt) {

    public boolean isLive(long now) {
        return expiresAt > now;
    }

    /** The same entry with another end. */
    public QueueEntry until(long end) {
        return new QueueEntry(lockId, kind, owner, handOver, channel, waiterNumber, arrivedAt, end);
    }

    /**
     * The message to the waiter; empty if its process receives none.
     *
     * @param handOver the grant that it carries; {@code null} for a waiter who has to look
     */
    public Optional<WakeUp> wakeUp(AcquireResult.@Nullable Granted handOver) {
        return Optional.ofNullable(channel).map(to -> new WakeUp(to, waiterNumber, handOver));
    }

    /** An entry of this attempt, for a waiter that arrived at this time. */
    static QueueEntry of(
            AcquireRequest request, long waiterNumber, @Nullable String channel, long arrivedAt, long end) {
        return new QueueEntry(
                request.lockId(),
                LeaseKind.of(request),
                request.options().owner(),
                request.options().handOver(),
                channel,
                waiterNumber,
                arrivedAt,
                end);
    }

    /** A reader without permits never does: the readers in front are woken together. */
    boolean acceptsHandOver() {
        return handOver && channel != null && kind.blocksReaders();
    }

    LockStatus.Waiter status() {
        return new LockStatus.Waiter(kind.mode(), kind.permits(), owner, Instant.ofEpochMilli(arrivedAt));
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return kind + " waiter " + waiterNumber + ", until " + expiresAt;
    }
}
