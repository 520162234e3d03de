package io.syncguard.jdbc;

import io.syncguard.LockBackendException;
import java.sql.Connection;
import java.sql.SQLException;

/** Makes connections ready for requests, and explains what fails on them. Thread-safe. */
public interface JdbcSessions {

    /** Makes a connection ready, unless it is already. Its network timeout is set. */
    void prepare(Connection connection) throws SQLException;

    /** Adds to the error of a request on this connection what the server can say about it. */
    default SQLException explained(Connection connection, SQLException error) {
        return error;
    }

    /** @param doing what was being done, such as {@code acquiring lock 'order:42'}; without a lock id */
    LockBackendException translate(String doing, SQLException error);

    /** The property that sets the network timeout. */
    String timeoutProperty();

    /** Whether the server rolled the request back because it conflicted with others, so that it may succeed now. */
    boolean isConflict(LockBackendException failure);
}
