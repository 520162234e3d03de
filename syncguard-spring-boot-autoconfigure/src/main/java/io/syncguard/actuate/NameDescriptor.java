package io.syncguard.actuate;

import io.syncguard.core.LocalLock;
import java.time.Duration;

/**
 * The counts of the locks of one name in this process, since its start.
 *
 * @param acquired number of granted locks
 * @param refused number of requests that were refused after the wait time
 * @param failed number of failed operations
 * @param released number of locks that ended by a release
 * @param lost number of locks that ended by a loss
 * @param expired number of those losses for which no extension was confirmed in time
 * @param longestHeld the longest time from a grant to its end, or until now
 * @param longestWait the longest time from a call to its grant or refusal, or until now
 */
public record NameDescriptor(
        long acquired,
        long refused,
        long failed,
        long released,
        long lost,
        long expired,
        Duration longestHeld,
        Duration longestWait) {

    /** Includes a lock that is held or waited for now. */
    NameDescriptor withCurrent(LocalLock lock) {
        return new NameDescriptor(
                acquired,
                refused,
                failed,
                released,
                lost,
                expired,
                lock.isHeld() ? longest(longestHeld, lock.elapsed()) : longestHeld,
                lock.isHeld() ? longestWait : longest(longestWait, lock.elapsed()));
    }

    private static Duration longest(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
