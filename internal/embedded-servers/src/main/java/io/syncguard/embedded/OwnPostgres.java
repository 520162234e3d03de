package io.syncguard.embedded;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * A separate embedded PostgreSQL for a test that would disturb others on the shared one. It can be stopped, started
 * again on the same port and data, and turned into a standby.
 */
public final class OwnPostgres implements AutoCloseable {

    private final Path data;
    private final Map<String, String> settings;
    private final @Nullable Path binaries;
    private int port;
    private EmbeddedPostgres server;

    /** A fast server, which may lose its data in a crash of the machine. */
    public OwnPostgres() {
        this(Map.of("fsync", "off"));
    }

    /** @param settings as in the configuration file */
    public OwnPostgres(Map<String, String> settings) {
        this(RunDirectory.newDirectory("postgres"), settings, null);
    }

    /** @param binaries the directory with the programs of another build of PostgreSQL */
    public OwnPostgres(Map<String, String> settings, Path binaries) {
        this(RunDirectory.newDirectory("postgres"), settings, binaries);
    }

    private OwnPostgres(Path data, Map<String, String> settings, @Nullable Path binaries) {
        this.data = data;
        this.settings = settings;
        this.binaries = binaries;
        start();
    }

    /** Starts a standby that follows this server, from a copy of its data. This server restarts meanwhile. */
    public OwnPostgres newStandby() {
        return newStandby(port);
    }

    /** @param through the port through which the standby connects to this server */
    public OwnPostgres newStandby(int through) {
        stop();
        Path copy = RunDirectory.newDirectory("postgres");
        try {
            FileSystemUtils.copyRecursively(data, copy);
            Files.writeString(
                    copy.resolve("postgresql.auto.conf"),
                    "\nprimary_conninfo = 'host=127.0.0.1 port=" + through + " user=postgres'\n",
                    StandardOpenOption.APPEND);
            Files.createFile(copy.resolve("standby.signal"));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start();
        return new OwnPostgres(copy, settings, binaries);
    }

    public int port() {
        return port;
    }

    /** The JDBC URL of its only database, for a superuser. */
    public String url() {
        return url("postgres", "");
    }

    /** The same for another user. */
    public String url(String user, String password) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=" + user + "&password=" + password;
    }

    public JdbcTemplate jdbc() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(url());
        return new JdbcTemplate(dataSource);
    }

    /** The data directory. */
    public Path data() {
        return data;
    }

    public void start() {
        EmbeddedPostgres.Builder builder = (binaries == null
                        ? PostgresBinaries.builder()
                        : PostgresBinaries.builder(binaries))
                .setPort(port)
                .setDataDirectory(data)
                .setCleanDataDirectory(false);
        settings.forEach(builder::setServerConfig);
        try {
            server = builder.start();
            port = server.getPort();
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded PostgreSQL did not start", ex);
        }
    }

    /** Ends all sessions and the server. */
    public void stop() {
        try {
            server.close();
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded PostgreSQL did not stop", ex);
        }
    }

    /** Kills all processes of the server at once, like a power failure of its machine. */
    public void kill() {
        ProcessHandle postmaster = postmaster().orElseThrow();
        List<ProcessHandle> all =
                Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(each -> Patience.awaitOrFail(() -> !each.isAlive()));
        // Releases the directory.
        stop();
    }

    /** Suspends all processes of the server until the returned action runs. Connections stay open without an answer. */
    public Runnable freeze() {
        ProcessHandle postmaster = postmaster().orElseThrow();
        List<Long> all = Stream.concat(Stream.of(postmaster), postmaster.descendants())
                .map(ProcessHandle::pid)
                .toList();
        Signals.send("STOP", all);
        return () -> Signals.send("CONT", all);
    }

    /** Asks the server to stop when its last session has ended. It accepts no new sessions until then. */
    public void stopWhenUnused() {
        postmaster().ifPresent(ProcessHandle::destroy);
    }

    /** Waits for the end of a server that was asked to stop. */
    public void awaitStopped() {
        postmaster()
                .ifPresent(each -> each.onExit().orTimeout(30, TimeUnit.SECONDS).join());
        // Releases the directory.
        stop();
    }

    /** Starts the stopped server in recovery, with a primary that does not exist. */
    public void startAsStandby() {
        try {
            Files.createFile(data.resolve("standby.signal"));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start();
    }

    /** Promotes the standby. */
    public void promote() {
        jdbc().queryForObject("SELECT pg_promote()", Boolean.class);
    }

    @Override
    public void close() throws IOException {
        server.close();
        FileSystemUtils.deleteRecursively(data);
    }

    private Optional<ProcessHandle> postmaster() {
        return new PidFile(data.resolve("postmaster.pid")).process();
    }
}
