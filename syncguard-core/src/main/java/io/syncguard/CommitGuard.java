package io.syncguard;

/**
 * Whether a transaction of the application commits only while the locks are held under which it runs. That is possible
 * for transactions of Spring on the PostgreSQL, MariaDB or MySQL database that stores the locks: each pins its leases
 * right before it commits, so that the key cannot be granted to anybody else until the commit has ended. If a lease is
 * lost under which the transaction has worked, the commit throws a {@link LockLostException} and the transaction is
 * rolled back, whatever became of the handle.
 *
 * <p>If several bodies run under one lease, the strictest guard counts: the constants are in this order.
 *
 * <p>It costs one statement for each transaction. A transaction that the server keeps from writing is not guarded.
 */
public enum CommitGuard {

    /** The property {@code syncguard.commit-guard} decides. */
    DEFAULT,

    /** No transaction is guarded, not even against a loss that is known. */
    OFF,

    /** Transactions that can be guarded are guarded. The others commit unguarded. */
    AUTO,

    /** A transaction that cannot be guarded is refused before it begins, with the reason. */
    REQUIRED
}
