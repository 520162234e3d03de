package io.syncguard.actuate;

import java.time.Duration;

/**
 * What became of the locks of one name in this process, since its start.
 *
 * @param acquired how many were granted
 * @param refused how many were refused after the wait time
 * @param failed how many operations failed
 * @param released how many ended by a release
 * @param lost how many ended by a loss
 * @param expired how many of those because no extension was confirmed in time
 * @param longestHeld the longest time from a grant to its end
 * @param longestWait the longest time from a call to its grant or refusal
 */
public record NameDescriptor(
        long acquired,
        long refused,
        long failed,
        long released,
        long lost,
        long expired,
        Duration longestHeld,
        Duration longestWait) {}
