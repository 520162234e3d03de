package io.syncguard.fencing;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Checks at the start that the table refuses a smaller fence, with the statements of a check. Finds a table whose
 * resources are not unique, and a user who lacks a right.
 */
record FenceProbe(Connection connection, FenceTable table) {

    private static final String INSERT = "INSERT INTO ${syncguard_fences} (resource, fence) VALUES (?, 1)";

    /** PostgreSQL finds no unique index for {@code ON CONFLICT}, or only one that it checks at the commit. */
    private static final Set<String> NO_UNIQUE_INDEX = Set.of("42P10", "55000");

    /** 22004 comes from H2. */
    private static final Set<String> OUT_OF_RANGE = Set.of("22003", "22004");

    void check() throws SQLException {
        connection.setAutoCommit(false);
        try {
            if (!refusesSmallerFence(FenceDatabase.of(connection), "syncguard:" + UUID.randomUUID())) {
                throw notUnique();
            }
        } catch (SQLException ex) {
            if (NO_UNIQUE_INDEX.contains(String.valueOf(ex.getSQLState()))) {
                throw notUnique();
            }
            if (OUT_OF_RANGE.contains(String.valueOf(ex.getSQLState()))) {
                throw tooSmall(ex);
            }
            throw ex;
        } finally {
            // A pool closes a connection after some errors.
            if (!connection.isClosed()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        }
    }

    private boolean refusesSmallerFence(FenceDatabase database, String resource) throws SQLException {
        FenceStatement statement = database.statement(table);
        if (statement.record(connection, resource, Fence.MAX_VALUE) != Fence.MAX_VALUE) {
            throw notKept();
        }
        if (statement.record(connection, resource, Fence.MAX_VALUE - 1) != Fence.MAX_VALUE) {
            return false;
        }
        // The statements of these two fail without a unique index. Those of others work without one, as long as they
        // run one after another.
        return database == FenceDatabase.POSTGRESQL || database == FenceDatabase.MYSQL || !insertsTwice(resource);
    }

    private boolean insertsTwice(String resource) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(table.fill(INSERT))) {
            statement.setString(1, resource);
            statement.executeUpdate();
            return true;
        } catch (SQLException ex) {
            if (String.valueOf(ex.getSQLState()).startsWith("23")) {
                return false;
            }
            throw ex;
        }
    }

    private LockSetupException tooSmall(SQLException error) {
        return new LockSetupException(
                LockErrorCode.INVALID_ARGUMENT,
                "The table of the fences, '" + table.name() + "', does not take the largest fence, " + Fence.MAX_VALUE
                        + ": " + error.getMessage(),
                List.of(
                        "Change the type of its column fence to BIGINT",
                        "Choose another name in syncguard.fencing.table"),
                error);
    }

    private LockSetupException notKept() {
        return LockSetupException.invalid(
                "The table of the fences, '" + table.name() + "', does not keep a row as it is written",
                "Drop the triggers that somebody added, or let them return the row as it is",
                "Choose another name in syncguard.fencing.table");
    }

    private LockSetupException notUnique() {
        return LockSetupException.invalid(
                "The table of the fences, '" + table.name() + "', has no unique index on its column resource, so it"
                        + " could accept the fences of two holders",
                "Delete duplicate rows, keep the largest fence, and create that index",
                "Choose another name in syncguard.fencing.table");
    }
}
