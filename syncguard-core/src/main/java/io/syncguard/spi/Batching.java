package io.syncguard.spi;

/**
 * How the engine lets requests of different callers share a list. It collects releases, and acquire requests with
 * {@link GrantExtent#EACH} of one mode and one {@linkplain StoreInfo#timeout(java.time.Duration) timeout}. Threads of
 * the engine send these lists.
 *
 * @param alone how many requests are sent alone at the same time; 0 for none, in tests
 * @param size how many requests a list has at most; 1 for a store that takes no lists
 */
public record Batching(int alone, int size) {

    /** Each caller sends its request alone. A store that answers later may collect them by itself. */
    public static final Batching NONE = new Batching(1, 1);
}
