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
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Which process starts a shared database, and which one stops it. */
class SharedDatabaseTests {

    private static final String NAME = "syncguard-test";

    @Test
    void theSecondInstanceFindsThePostgresOfTheFirstAndTheLastStopsIt() throws Exception {
        theLastStops(SharedDatabase::postgres);
    }

    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    @Test
    void theSecondInstanceFindsTheMariaDbOfTheFirstAndTheLastStopsIt() throws Exception {
        theLastStops(SharedDatabase::mariaDb);
    }

    @Test
    void aServerOfSomebodyElseIsNeitherUsedNorStopped() throws Exception {
        try (OwnPostgres foreignServer = new OwnPostgres()) {
            assertThatExceptionOfType(ServerNotStartedException.class)
                    .isThrownBy(() -> SharedDatabase.postgres(server(port(foreignServer.url()))))
                    .withMessageContaining("taken by another program");
            assertThat(foreignServer.jdbc().queryForObject("SELECT 1", Integer.class))
                    .isEqualTo(1);
        }
    }

    private static void theLastStops(Join join) throws Exception {
        SharedDatabase first = join.join(server(0));
        SharedDatabase second = join.join(server(port(first.url())));
        assertThat(second.url()).isEqualTo(first.url());

        first.close();
        connect(second).close();

        second.close();
        assertThatExceptionOfType(SQLException.class)
                .isThrownBy(() -> connect(second))
                .withRootCauseInstanceOf(ConnectException.class);
    }

    private static SharedServer server(int port) {
        return new SharedServer(NAME, port, "set the port to a free one");
    }

    private static Connection connect(SharedDatabase postgres) throws SQLException {
        return DriverManager.getConnection(postgres.url(), postgres.user(), "");
    }

    private static int port(String jdbcUrl) {
        return URI.create(jdbcUrl.substring("jdbc:".length())).getPort();
    }

    private interface Join {

        SharedDatabase join(SharedServer server) throws IOException, SQLException;
    }
}
