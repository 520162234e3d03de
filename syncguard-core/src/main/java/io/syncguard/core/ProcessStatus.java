package io.syncguard.core;

import io.syncguard.spi.PoolStatus;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What this process knows of its locks, without asking the store. Immutable.
 *
 * @param backend the name of the store
 * @param owner the label of this process
 * @param grantsLocks false while the application stops; in the health, also while the store fails
 * @param held how many leases it holds
 * @param overdue how many of them could not be extended in time, and end unless that succeeds
 * @param waiting how many of its callers wait for a lock
 * @param sinceHeartbeat the time since the store confirmed extensions for the last time; {@code null} if it never did
 * @param failedHeartbeats how many statements of the heartbeat have failed since then
 * @param outage why the store does not answer; {@code null} if the last request to each server was answered
 * @param wakeUps whether wake-ups arrive. If not, waiters poll. {@code null} before a caller waits for the first time:
 *     the connection is made then
 * @param pool the connections for callers; {@code null} if the store needs no pool
 */
public record ProcessStatus(
        String backend,
        String owner,
        boolean grantsLocks,
        int held,
        int overdue,
        int waiting,
        @Nullable Duration sinceHeartbeat,
        int failedHeartbeats,
        @Nullable StoreOutage outage,
        @Nullable Boolean wakeUps,
        @Nullable PoolStatus pool) {

    /** This status while the store fails. */
    public ProcessStatus withoutGrants() {
        return new ProcessStatus(
                backend, owner, false, held, overdue, waiting, sinceHeartbeat, failedHeartbeats, outage, wakeUps, pool);
    }

    /** For readers who may not see keys, which messages name. */
    public ProcessStatus withoutMessages() {
        return new ProcessStatus(
                backend,
                owner,
                grantsLocks,
                held,
                overdue,
                waiting,
                sinceHeartbeat,
                failedHeartbeats,
                outage == null ? null : outage.withoutMessage(),
                wakeUps,
                pool);
    }
}
