package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("verification")
class PostgresKilledServerTests extends KilledServerContract {

    private static OwnPostgres server;

    @BeforeAll
    static void startServer() {
        server = new OwnPostgres(Map.of("fsync", "on"));
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @Override
    int port() {
        return server.port();
    }

    @Override
    String url(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&sslmode=disable";
    }

    @Override
    void kill() {
        server.kill();
    }

    @Override
    void start() {
        server.start();
        Awaitility.await("the server")
                .ignoreExceptions()
                .until(() -> server.jdbc().queryForObject("SELECT 1", Integer.class) == 1);
    }

    @Override
    List<String> stored(String key) {
        return Stream.of(
                        "syncguard_locks",
                        "syncguard_locks_shared",
                        "syncguard_locks_waiters",
                        "syncguard_fence_counters")
                .flatMap(table -> server
                        .jdbc()
                        .queryForList(
                                "SELECT t::TEXT FROM " + table + " AS t WHERE t::TEXT LIKE ? ORDER BY 1",
                                String.class,
                                "%" + key + "%")
                        .stream())
                .toList();
    }
}
