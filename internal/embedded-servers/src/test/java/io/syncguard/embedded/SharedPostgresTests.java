package io.syncguard.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** Which process starts a shared PostgreSQL, and which one stops it. */
class SharedPostgresTests {

    private static final String NAME = "syncguard-test";

    @Test
    void theSecondInstanceFindsTheServerOfTheFirstAndTheLastStopsIt() throws Exception {
        SharedPostgres first = join(0);
        SharedPostgres second = join(port(first.url()));
        assertThat(second.url()).isEqualTo(first.url());

        first.close();
        connect(second).close();

        second.close();
        assertThatExceptionOfType(SQLException.class)
                .isThrownBy(() -> connect(second))
                .withCauseInstanceOf(ConnectException.class);
    }

    @Test
    void aServerOfSomebodyElseIsNeitherUsedNorStopped() throws Exception {
        try (OwnPostgres foreignServer = new OwnPostgres()) {
            assertThatExceptionOfType(ServerNotStartedException.class)
                    .isThrownBy(() -> join(port(foreignServer.url())))
                    .withMessageContaining("taken by another program");
            assertThat(foreignServer.jdbc().queryForObject("SELECT 1", Integer.class))
                    .isEqualTo(1);
        }
    }

    private static SharedPostgres join(int port) throws IOException, SQLException {
        return SharedPostgres.join(new SharedServer(NAME, port, "set the port to a free one"));
    }

    private static Connection connect(SharedPostgres postgres) throws SQLException {
        return DriverManager.getConnection(postgres.url(), postgres.user(), "");
    }

    private static int port(String jdbcUrl) {
        return URI.create(jdbcUrl.substring("jdbc:".length())).getPort();
    }
}
