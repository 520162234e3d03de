package io.syncguard.postgres;

import java.sql.Connection;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.SmartDataSource;

/** Lends the connection of one request to a {@code JdbcTemplate}. The request closes it, not the template. */
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
        throw new UnsupportedOperationException("The connection has a user already");
    }

    @Override
    public boolean shouldClose(Connection lent) {
        return false;
    }
}
