package io.syncguard.spi;

/**
 * The connections for the requests of callers. Immutable.
 *
 * @param active how many are in use
 * @param idle how many are open and not in use
 * @param awaiting how many threads wait for one
 * @param maximum how many there may be
 */
public record PoolStatus(int active, int idle, int awaiting, int maximum) {}
