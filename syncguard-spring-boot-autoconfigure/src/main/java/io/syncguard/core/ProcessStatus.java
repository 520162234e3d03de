package io.syncguard.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What this process knows of its locks, without asking the store. Immutable.
 *
 * @param backend the name of the store
 * @param grantsLocks false while the application stops
 * @param held how many leases it holds
 * @param waiting how many of its callers wait for a lock
 * @param sinceHeartbeat the time since the store confirmed extensions for the last time; {@code null} if it never did
 * @param failedHeartbeats how many statements of the heartbeat have failed since then
 * @param wakeUps whether wake-ups arrive. If not, waiters poll; the connection is made for the first of them
 */
public record ProcessStatus(
        String backend,
        boolean grantsLocks,
        int held,
        int waiting,
        @Nullable Duration sinceHeartbeat,
        int failedHeartbeats,
        boolean wakeUps) {}
