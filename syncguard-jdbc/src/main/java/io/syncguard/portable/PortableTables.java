package io.syncguard.portable;

/**
 * The names of the tables.
 *
 * @param keys one row a key: the fence counter, which serialises all that happens to the key
 * @param leases live and lapsed leases
 * @param waiters the queues
 */
public record PortableTables(String keys, String leases, String waiters) {

    /** {@code syncguard_keys}, {@code syncguard_leases} and {@code syncguard_waiters}. */
    public static final PortableTables DEFAULT =
            new PortableTables("syncguard_keys", "syncguard_leases", "syncguard_waiters");
}
