package io.syncguard.sample.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;

/**
 * The operating system's side of the sample's PostgreSQL: its process, which no Java process is the parent of, and its
 * directory.
 *
 * @param pid the process id of the postmaster
 * @param directory what this server wrote: {@code data} and {@code server.log}
 */
record PostgresProcess(long pid, Path directory) {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresProcess.class);

    /** Told from a PostgreSQL of somebody else by its {@code cluster_name}, which is part of the title of its processes. */
    private static final String CLUSTER_NAME = "syncguard-sample";

    private static final Duration TIME_TO_START = Duration.ofSeconds(60);
    private static final Duration TIME_TO_STOP = Duration.ofSeconds(10);

    private static final String WHO_ARE_YOU = """
            SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::bigint, current_setting('data_directory')
            WHERE current_setting('cluster_name') = '%s'
            """.formatted(CLUSTER_NAME);

    /** Where everything of this user's sample is kept; another user cannot be in the way. */
    static Path home() throws IOException {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        return Files.createDirectories(temporary.resolve(CLUSTER_NAME + "-" + System.getProperty("user.name")));
    }

    /**
     * Starts a server on a new directory.
     *
     * @param port 0 for a free one
     * @return the port on which it listens
     */
    static int start(int port) throws IOException {
        LOG.info("Starting a PostgreSQL for the sample; the first time takes a few seconds longer");
        Path directory = Files.createTempDirectory(home(), "server-");
        Path log = directory.resolve("server.log");
        try {
            // Never closed: the server is to live on without this process. pg_ctl gives it a session of its own, so
            // that neither a Ctrl-C in the terminal nor the end of this process reaches it.
            return EmbeddedPostgres.builder()
                    .setPort(port)
                    .setPGStartupWait(TIME_TO_START)
                    .setRegisterShutdownHook(false)
                    // The default is one directory for all users, where the first one's files may be closed to others.
                    .setOverrideWorkingDirectory(home().resolve("binaries").toFile())
                    // Outside that default, too: whatever lies there unlocked for ten minutes, such as the data of a
                    // server whose starter was killed, is stopped and deleted by the next one to start a server.
                    .setDataDirectory(directory.resolve("data"))
                    // A pipe would end with this process, and the server's log with it.
                    .setOutputRedirector(Redirect.appendTo(log.toFile()))
                    .setErrorRedirector(Redirect.appendTo(log.toFile()))
                    .setLocaleConfig("locale", "C")
                    .setServerConfig("cluster_name", CLUSTER_NAME)
                    .setServerConfig("listen_addresses", "127.0.0.1")
                    .setServerConfig("unix_socket_directories", "")
                    .start()
                    .getPort();
        } catch (IOException | RuntimeException ex) {
            throw new IOException(
                    "PostgreSQL does not start; its log is " + log + ". As root it needs user namespaces"
                            + " (unshare -U), which some containers forbid: run the sample as another user,"
                            + " or on a server of your own with spring.datasource.url",
                    ex);
        }
    }

    /** The process that answers this connection; {@code null} when it is not one of the sample. */
    static @Nullable PostgresProcess behind(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(WHO_ARE_YOU)) {
            if (!answer.next()) {
                return null;
            }
            Path directory = Path.of(answer.getString(2), "..").normalize();
            return new PostgresProcess(answer.getLong(1), directory);
        }
    }

    /** Stops the server, which ends when its last client is gone, and removes its directory. */
    void stop() throws IOException {
        ProcessHandle postmaster = ProcessHandle.of(pid)
                // A server behind a forwarded port has its id from another system, where it means another process.
                .filter(process -> process.info().command().orElse("").contains("postgres"))
                .orElse(null);
        if (postmaster != null && postmaster.destroy() && hasEnded(postmaster)) {
            FileSystemUtils.deleteRecursively(directory);
            LOG.info("Stopped the PostgreSQL of the sample");
        } else {
            LOG.info("The PostgreSQL of the sample does not stop: {}", this);
        }
    }

    private static boolean hasEnded(ProcessHandle process) {
        long deadline = System.nanoTime() + TIME_TO_STOP.toNanos();
        try {
            // Not onExit(): where the process is no child of this one, that looks only every few seconds.
            while (process.isAlive() && System.nanoTime() - deadline < 0) {
                Thread.sleep(50);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return !process.isAlive();
    }

    @Override
    public String toString() {
        return "process " + pid + ", files in " + directory;
    }
}
