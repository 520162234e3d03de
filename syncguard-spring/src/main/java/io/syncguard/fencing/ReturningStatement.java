package io.syncguard.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * One statement that inserts or updates the row and returns it.
 */
final class ReturningStatement implements FenceStatement {

    /** Waits for the transaction that has locked the row, and continues with the row as that transaction leaves it. */
    static final String POSTGRESQL = """
            INSERT INTO ${syncguard_fences} AS f (resource, fence) VALUES (?, ?)
            ON CONFLICT (resource) DO UPDATE SET fence = GREATEST(f.fence, excluded.fence)
            RETURNING fence
            """;

    static final String H2 = """
            SELECT fence FROM FINAL TABLE (
                MERGE INTO ${syncguard_fences} AS f
                USING (VALUES (CAST(? AS VARCHAR), CAST(? AS BIGINT))) AS n (resource, fence)
                ON f.resource = n.resource
                WHEN MATCHED THEN UPDATE SET fence = GREATEST(f.fence, n.fence)
                WHEN NOT MATCHED THEN INSERT (resource, fence) VALUES (n.resource, n.fence))
            """;

    private final String sql;

    ReturningStatement(String sql) {
        this.sql = sql;
    }

    @Override
    public long record(Connection connection, String resource, long fence) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, resource);
            statement.setLong(2, fence);
            try (ResultSet rows = statement.executeQuery()) {
                // A trigger can drop the row. No fence is 0.
                return rows.next() ? rows.getLong(1) : 0;
            }
        }
    }
}
