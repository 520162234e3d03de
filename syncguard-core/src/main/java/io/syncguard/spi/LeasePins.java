package io.syncguard.spi;

import io.syncguard.LockBackendException;
import io.syncguard.LockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Pins leases in transactions of the application on the database that stores the locks. Until such a transaction has
 * ended, its leases are not released, and nobody else is granted their keys; heartbeats go on. Thread-safe. No method
 * ends the transaction, and the connection stays usable.
 */
public interface LeasePins {

    /**
     * Why transactions on this connection cannot pin leases, such as one to another database; {@code null} if they can.
     * Words that may differ from time to time, such as those of a driver, stand behind a colon.
     *
     * @throws LockBackendException when the store does not answer
     */
    @Nullable
    String whyNot(Connection connection) throws SQLException;

    /**
     * Whether the transaction of this connection writes nothing, so that there is nothing to guard.
     *
     * @param isDeclared whether the application declared the transaction as read-only
     */
    boolean isReadOnly(Connection connection, boolean isDeclared) throws SQLException;

    /**
     * Pins leases in the transaction of this connection, for which {@link #whyNot} was {@code null}, in one round trip.
     *
     * @throws LockException with {@code INVALID_ARGUMENT} if the transaction was made read-only after it had written
     */
    Pinned pin(Connection connection, List<String> lockIds) throws SQLException;

    /** Whether the transaction of this connection sees only what was committed before its first statement. */
    boolean hasSnapshot(Connection connection) throws SQLException;

    /** The sessions whose transactions lock rows of the key. Reads only. */
    List<BlockingSession> blockingSessions(String key);

    /** What an error on a connection of the application means. */
    Failure meaningOf(SQLException error);

    /**
     * The error of the store.
     *
     * @param doing what was being done, such as {@code guarding a commit under lock 'order:42'}
     */
    LockBackendException translate(String doing, SQLException error);

    /**
     * What became of a pin.
     *
     * @param lockIds those that are there; none of the others can be seen by this transaction. {@code null} if nothing
     *     was pinned
     * @param refusal why the transaction cannot pin; {@code null} if it can, or has nothing to guard
     */
    record Pinned(@Nullable Set<String> lockIds, @Nullable String refusal) {

        /** The transaction writes nothing. */
        public static final Pinned NOTHING_TO_GUARD = new Pinned(null, null);
    }

    /** What an error on a connection of the application means. */
    enum Failure {

        /** A lease was taken over, or released, after the snapshot of the transaction. */
        TAKEN_OVER,

        /** The transaction cannot be serialized with others, whatever happened to its leases. */
        UNSERIALIZABLE,

        /** Another error of the transaction, its connection or its pool, which it would meet without locks, too. */
        APPLICATION,

        /** An error of the pin alone, such as missing rights or tables, or a wait for a locked row. */
        STORE
    }
}
