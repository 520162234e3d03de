package io.syncguard.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Standard SQL for the other databases. A check that passes takes one statement; the first check of a resource, and a
 * refusal, take up to three.
 */
final class StandardStatement implements FenceStatement {

    private static final String UPDATE = "UPDATE ${syncguard_fences} SET fence = ? WHERE resource = ? AND fence <= ?";

    private static final String SELECT = "SELECT fence FROM ${syncguard_fences} WHERE resource = ?";

    private static final String INSERT = "INSERT INTO ${syncguard_fences} (resource, fence) VALUES (?, ?)";

    private final String update;
    private final String select;
    private final String insert;

    StandardStatement(FenceTable table) {
        this.update = table.fill(UPDATE);
        this.select = table.fill(SELECT);
        this.insert = table.fill(INSERT);
    }

    @Override
    public long record(Connection connection, String resource, long fence) throws SQLException {
        if (update(connection, resource, fence)) {
            return fence;
        }
        long seen = seen(connection, resource);
        if (seen <= fence) {
            // If another transaction inserts the row meanwhile, this insert fails, and so does the check.
            insert(connection, resource, fence);
        }
        return Math.max(seen, fence);
    }

    private boolean update(Connection connection, String resource, long fence) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(update)) {
            statement.setLong(1, fence);
            statement.setString(2, resource);
            statement.setLong(3, fence);
            return statement.executeUpdate() > 0;
        }
    }

    /** The recorded fence, or 0. */
    private long seen(Connection connection, String resource) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(select)) {
            statement.setString(1, resource);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getLong(1) : 0;
            }
        }
    }

    private void insert(Connection connection, String resource, long fence) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            statement.setString(1, resource);
            statement.setLong(2, fence);
            statement.executeUpdate();
        }
    }
}
