package io.syncguard.postgres;

import java.sql.Connection;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.SmartDataSource;

/** The connection of one request, for a {@code JdbcTemplate}, which does not close it: the request does. */
final class LentConnection extends AbstractDataSource implements SmartDataSource {

    private final Connection connection;

    LentConnection(Connection connection) {
        this.connection = connection;
    }

    @Override
    public Connection getConnection() {
        return connection;
    }

    @Override
    public Connection getConnection(String username, String password) {
        throw new UnsupportedOperationException("The connection is there, with its user");
    }

    @Override
    public boolean shouldClose(Connection lent) {
        return false;
    }
}
