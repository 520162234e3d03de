package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.verification.StressStore;
import io.syncguard.verification.matrix.Call.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** Locks and applications in one durable PostgreSQL. Each process has a link of its own to it. */
final class PostgresSite implements Site {

    /** The user of the processes. Its defaults may be changed; those of the test may not. */
    static final String USER = "shop";

    private static final Map<String, String> DURABLE = Map.of(
            "fsync", "on",
            "synchronous_commit", "on",
            "full_page_writes", "on",
            "max_connections", "200",
            "track_commit_timestamp", "on");

    private final OwnPostgres server;
    private final List<FaultyLink> links = new ArrayList<>();
    private final JdbcTemplate jdbc;

    /** @param roleSettings defaults of the processes' user, such as {@code statement_timeout = 50} */
    PostgresSite(int processes, String... roleSettings) {
        this.server = new OwnPostgres(DURABLE);
        this.jdbc = server.jdbc();
        jdbc.execute("CREATE ROLE " + USER + " LOGIN");
        jdbc.execute("GRANT ALL ON SCHEMA public TO " + USER);
        jdbc.execute(Orders.TABLES);
        jdbc.execute("GRANT ALL ON heads, effects TO " + USER);
        for (String setting : roleSettings) {
            jdbc.execute("ALTER ROLE " + USER + " SET " + setting);
        }
        for (int i = 0; i < processes; i++) {
            links.add(new FaultyLink(server.port()));
        }
    }

    /** The script of the schema, with its names, which the processes write when they start. */
    Path script() {
        return server.data().resolve("syncguard.sql");
    }

    OwnPostgres server() {
        return server;
    }

    List<FaultyLink> links() {
        return links;
    }

    @Override
    public String description() {
        return jdbc.queryForObject("SELECT 'PostgreSQL ' || current_setting('server_version')", String.class);
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=jdbc:postgresql://127.0.0.1:"
                        + links.get(process % links.size()).port() + "/postgres?user=" + USER
                        + "&sslmode=disable&ApplicationName=" + process,
                "syncguard.postgres.schema-script=" + script(),
                "syncguard.postgres.network-timeout=" + NETWORK_TIMEOUT_MILLIS + "ms");
    }

    @Override
    public List<Kind> kinds() {
        return List.of(
                Kind.GUARDED, Kind.FENCED, Kind.PLAIN, Kind.GUARDED, Kind.READ, Kind.TRY, Kind.PAIR, Kind.INSIDE);
    }

    @Override
    public JdbcTemplate applications() {
        return jdbc;
    }

    @Override
    public StressStore store() {
        return StressStore.of(jdbc);
    }

    @Override
    public long connections() {
        return jdbc.queryForObject("SELECT count(*) FROM pg_stat_activity WHERE usename = ?", Long.class, USER);
    }

    @Override
    public void close() throws IOException {
        links.forEach(FaultyLink::close);
        server.close();
    }
}
