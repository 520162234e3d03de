package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.testing.PostgresProxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class LockPoolTests {

    @Test
    void a_connection_that_breaks_while_the_pool_learns_its_isolation_does_not_spoil_the_pool() throws SQLException {
        try (PostgresProxy proxy = new PostgresProxy(TestDatabase.empty().url())) {
            proxy.loseAnswerTo("TRANSACTION ISOLATION LEVEL");
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(proxy.url());
            config.setMaximumPoolSize(1);
            config.setConnectionTimeout(10_000);
            config.setInitializationFailTimeout(-1);

            try (LockPool pool = new LockPool(config);
                    Connection connection = pool.getConnection()) {
                assertThat(connection.isValid(1)).isTrue();
            }
        }
    }
}
