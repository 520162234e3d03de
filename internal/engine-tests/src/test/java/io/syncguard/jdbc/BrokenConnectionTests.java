package io.syncguard.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool does not lend a connection that its driver has closed, because it broke in the request before. */
class BrokenConnectionTests {

    @ParameterizedTest
    @ValueSource(strings = {"h2", "mariadb", "postgresql"})
    void a_broken_connection_is_not_lent_again(String database) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(
                switch (database) {
                    case "h2" -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
                    case "mariadb" -> MariaDbServer.newDatabaseUrl();
                    default -> PostgresServer.newDatabaseUrl();
                });
        config.setMaximumPoolSize(1);
        try (LockPool pool = new LockPool(config)) {
            Connection broken = pool.getConnection();
            broken.unwrap(Connection.class).close();
            assertThat(catchThrowable(() -> broken.prepareStatement("SELECT 1")))
                    .isNotNull();
            catchThrowable(broken::close);

            try (Connection next = pool.getConnection()) {
                assertThat(next.prepareStatement("SELECT 1").execute()).isTrue();
            }
            assertThat(pool.status().active()).isZero();
        }
    }
}
