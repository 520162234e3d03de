package io.syncguard.fencing;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * The statement that records a fence of a resource. It locks the row of the resource until the transaction ends, so
 * that the checks of one resource happen one after the other, in the order of their commits.
 */
@FunctionalInterface
interface FenceStatement {

    /**
     * Records the fence if it is the largest that the resource has seen.
     *
     * @return the largest fence that the resource has seen, this one included
     */
    long record(Connection connection, String resource, long fence) throws SQLException;
}
