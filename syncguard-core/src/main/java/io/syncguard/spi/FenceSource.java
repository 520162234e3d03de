package io.syncguard.spi;

/**
 * Where the fences of a store come from. All processes of a store use the same source.
 */
public enum FenceSource {

    /** The next number of a counter: 1, 2, 3 … A counter that is lost begins again. */
    COUNTER,

    /**
     * The next number of a counter, and at least a hundred times the milliseconds of the server's clock. So a fence is
     * also larger than those of a counter that was lost, and a counter that is idle may be forgotten.
     */
    CLOCK
}
