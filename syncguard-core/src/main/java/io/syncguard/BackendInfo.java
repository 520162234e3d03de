package io.syncguard;

/**
 * What the store of a {@link LockManager} is. Immutable.
 *
 * @param name as in meters, such as {@code postgres}
 * @param hasFences whether every grant has a fence, and no later grant of its key has the same or a smaller one
 * @param clock judges when a lease is over
 */
public record BackendInfo(String name, boolean hasFences, Clock clock) {

    /** Whose clock it is. */
    public enum Clock {

        /** The clock of the store's server: one for all processes. */
        SERVER,

        /** The clock of this process, the only user of the store. */
        PROCESS
    }
}
