package io.syncguard.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The statement for MySQL and MariaDB. On MySQL, an insert that becomes an update returns no row, so
 * {@code LAST_INSERT_ID} sends the fence back with the response, as <a
 * href="https://dev.mysql.com/doc/refman/8.4/en/information-functions.html">the manual</a> describes.
 */
final class MySqlStatement implements FenceStatement {

    /** The fence is a parameter twice, because MySQL and MariaDB name the inserted value differently. */
    private static final String RECORD = """
            INSERT INTO ${syncguard_fences} (resource, fence) VALUES (CONVERT(? USING utf8mb4), LAST_INSERT_ID(?))
            ON DUPLICATE KEY UPDATE fence = LAST_INSERT_ID(GREATEST(fence, ?))
            """;

    private static final String LAST = "SELECT LAST_INSERT_ID()";

    private final String sql;

    MySqlStatement(FenceTable table) {
        this.sql = table.fill(RECORD);
    }

    @Override
    public long record(Connection connection, String resource, long fence) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            statement.setString(1, resource);
            statement.setLong(2, fence);
            statement.setLong(3, fence);
            statement.executeUpdate();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                // MySQL's driver with useAffectedRows=true hides the value of an update that changed nothing.
                return keys.next() ? keys.getLong(1) : lastInsertId(connection);
            }
        }
    }

    private static long lastInsertId(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(LAST)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
