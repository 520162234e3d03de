package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.embedded.RunDirectory;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Locks and applications in one durable PostgreSQL. Each process has a separate link to it. */
final class PostgresSite implements Site {

    /** The user of the processes. */
    static final String USER = "shop";

    /** The tablespace on the small disk. */
    static final String TABLESPACE = "small_disk";

    static final Map<String, String> DURABLE = Map.of(
            "fsync", "on",
            "synchronous_commit", "on",
            "full_page_writes", "on",
            "max_connections", "300",
            // The order of the effects is the order of their commits.
            "track_commit_timestamp", "on");

    private static final String SIZES = """
            SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
            WHERE relname LIKE 'syncguard%' AND relkind = 'r'
            """;

    private final OwnPostgres server;
    private final List<FaultyLink> links = new ArrayList<>();
    private final JdbcTemplate jdbc;
    private final String conditions;
    private @Nullable SmallDisk disk;

    /** Starts the embedded server. */
    PostgresSite(int processes) {
        this(processes, null, Map.of(), List.of());
    }

    /**
     * @param binaries the directory of another build; {@code null} for the embedded one
     * @param settings of the server, in addition to those that make it durable
     * @param roleSettings defaults of the processes' user, such as {@code statement_timeout = 50}
     */
    PostgresSite(int processes, @Nullable Path binaries, Map<String, String> settings, List<String> roleSettings) {
        Map<String, String> all = new HashMap<>(DURABLE);
        all.putAll(settings);
        this.server = binaries == null ? new OwnPostgres(all) : new OwnPostgres(all, binaries);
        this.jdbc = server.jdbc();
        prepare(jdbc, roleSettings);
        for (int i = 0; i < processes; i++) {
            links.add(new FaultyLink(server.port()));
        }
        this.conditions = Stream.concat(
                        settings.entrySet().stream()
                                .map(setting -> setting.getKey() + " = " + setting.getValue())
                                .sorted(),
                        roleSettings.stream())
                .map(condition -> ", " + condition)
                .collect(Collectors.joining());
    }

    /** Creates the user and the tables of the applications. */
    static void prepare(JdbcTemplate jdbc, List<String> roleSettings) {
        jdbc.execute("CREATE ROLE " + USER + " LOGIN");
        jdbc.execute("GRANT ALL ON SCHEMA public TO " + USER);
        jdbc.execute(Orders.TABLES);
        jdbc.execute("GRANT ALL ON heads, effects TO " + USER);
        for (String setting : roleSettings) {
            jdbc.execute("ALTER ROLE " + USER + " SET " + setting);
        }
    }

    static String url(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=" + USER + "&sslmode=disable";
    }

    static String version(JdbcTemplate jdbc) {
        return "PostgreSQL " + jdbc.queryForObject("SHOW server_version", String.class);
    }

    /** The schema script, with the table names filled in, which the processes write when they start. */
    Path script() {
        return server.data().resolve("syncguard.sql");
    }

    OwnPostgres server() {
        return server;
    }

    /** Creates a small disk with a tablespace of the processes' user. It is removed with the server. */
    SmallDisk smallDisk() {
        disk = new SmallDisk(RunDirectory.newDirectory("disk"));
        jdbc.execute("CREATE TABLESPACE " + TABLESPACE + " LOCATION '" + disk + "'");
        jdbc.execute("GRANT CREATE ON TABLESPACE " + TABLESPACE + " TO " + USER);
        return disk;
    }

    List<FaultyLink> links() {
        return links;
    }

    @Override
    public String description() {
        return version(jdbc) + conditions;
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=" + url(links.get(process % links.size()).port()) + "&ApplicationName="
                        + process,
                "syncguard.postgres.schema-script=" + script(),
                "syncguard.postgres.network-timeout=" + NETWORK_TIMEOUT_MILLIS + "ms");
    }

    @Override
    public List<Kind> kinds() {
        return WITH_ALL_GUARDS;
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
    public Map<String, Double> sizes() {
        Map<String, Double> sizes = new LinkedHashMap<>();
        jdbc.query(SIZES, row -> {
            sizes.put("tables with indexes, MB", row.getDouble("bytes") / 1e6);
        });
        sizes.put("sessions", (double) connections());
        return sizes;
    }

    @Override
    public long connections() {
        return jdbc.queryForObject("SELECT count(*) FROM pg_stat_activity WHERE usename = ?", Long.class, USER);
    }

    @Override
    public void close() throws IOException {
        links.forEach(FaultyLink::close);
        server.close();
        if (disk != null) {
            disk.close();
        }
    }
}
