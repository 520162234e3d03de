package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnMariaDb;
import io.syncguard.embedded.RunDirectory;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.FileSystemUtils;

/** Locks in one MariaDB, to which each process has a separate link; applications in the shared PostgreSQL. */
final class MariaDbSite implements Site {

    private static final String DATABASE = "shop";

    private final Path files = RunDirectory.newDirectory("mariadb");
    private final OwnMariaDb server = new OwnMariaDb(files, "--max-connections=300", "--log-warnings=1");
    private final JdbcTemplate locks = new JdbcTemplate(new DriverManagerDataSource(url(server.port())));
    private final ApplicationDatabase applications = ApplicationDatabase.create();
    private final List<FaultyLink> links;

    private @Nullable SmallDisk disk;

    MariaDbSite(int processes) {
        this.links = IntStream.range(0, processes)
                .mapToObj(process -> new FaultyLink(server.port()))
                .toList();
    }

    private static String url(int port) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + DATABASE + "?user=root&createDatabaseIfNotExist=true";
    }

    /** Creates a small disk for the tables of the locks, before there are any. It is removed with the server. */
    SmallDisk smallDisk() {
        Path database = Path.of(locks.queryForObject("SELECT @@datadir", String.class), DATABASE);
        disk = new SmallDisk(database);
        return disk;
    }

    OwnMariaDb server() {
        return server;
    }

    List<FaultyLink> links() {
        return links;
    }

    JdbcTemplate locks() {
        return locks;
    }

    @Override
    public String description() {
        return "MariaDB " + locks.queryForObject("SELECT VERSION()", String.class);
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=" + applications.url(),
                Shop.MARIADB + "=" + url(links.get(process % links.size()).port()));
    }

    @Override
    public List<Kind> kinds() {
        return WITH_FENCE_GUARD;
    }

    @Override
    public JdbcTemplate applications() {
        return applications.jdbc();
    }

    @Override
    public StressStore store() {
        return StressStore.inMariaDb(locks);
    }

    @Override
    public long connections() {
        return locks.queryForObject(
                "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
                Long.class);
    }

    @Override
    public void close() throws IOException {
        links.forEach(FaultyLink::close);
        server.close();
        if (disk != null) {
            disk.close();
        }
        FileSystemUtils.deleteRecursively(files);
    }
}
