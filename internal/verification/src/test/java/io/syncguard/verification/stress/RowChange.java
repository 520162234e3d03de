package io.syncguard.verification.stress;

/**
 * A row that a transaction of the store has changed; in Redis, a member of a set or a counter that a script has
 * changed.
 *
 * @param transaction its number
 * @param nowMillis the server's clock when the row was changed
 * @param table {@code L} for a lease, {@code E} for a queue entry, {@code C} for a fence counter
 * @param operation {@code INSERT}, {@code UPDATE} or {@code DELETE}
 * @param arrival of a queue entry
 * @param expiresAt in milliseconds of the server's clock
 * @param fence of a counter
 */
record RowChange(
        long transaction,
        long nowMillis,
        char table,
        String operation,
        String key,
        String lockId,
        boolean shared,
        long arrival,
        long expiresAt,
        long fence) {}
