package io.syncguard.autoconfigure;

import io.syncguard.CommitGuard;
import io.syncguard.LockSettings;
import io.syncguard.OnContention;
import io.syncguard.OnLost;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * {@code syncguard.locks.<name>.*}.
 *
 * @param ttl How long a lock lives without an extension. From 1 ms to 365 days.
 * @param waitTime How long a caller waits for a lock. Zero is a single attempt; at most 365 days.
 * @param onContention What an annotated method does if others held the key until the end of the wait time.
 * @param heartbeat Whether a lock is extended while it is held.
 * @param heartbeatInterval Interval between extensions of a lock with a heartbeat. At most a third of the ttl.
 * @param onLost How a body learns that its lock was lost.
 * @param holdAtLeast How long the key stays locked after the grant, even if the work ends earlier.
 * @param holdAtMost Time after the grant at which a lock is lost, even if its body still runs.
 * @param commitGuard Which transactions commit only while their locks are held.
 * @param permits Maximum number of holders of a shared lock at the same time. From 1 to 10 000.
 */
record LockProperties(
        @Nullable Duration ttl,
        @Nullable Duration waitTime,
        @Nullable OnContention onContention,
        @Nullable Boolean heartbeat,
        @Nullable Duration heartbeatInterval,
        @Nullable OnLost onLost,
        @Nullable Duration holdAtLeast,
        @Nullable Duration holdAtMost,
        @Nullable CommitGuard commitGuard,
        @Nullable Integer permits) {

    LockSettings settings(String property) {
        return new LockSettings(
                property,
                ttl,
                waitTime,
                onContention,
                heartbeat,
                heartbeatInterval,
                onLost,
                holdAtLeast,
                holdAtMost,
                commitGuard,
                permits);
    }
}
