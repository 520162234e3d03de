package io.syncguard.embedded;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a PostgreSQL that outlives this process, and recognises one that another process has started like this. */
final class PostgresStarter {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresStarter.class);

    private static final Duration TIME_TO_START = Duration.ofSeconds(60);

    /** Identifies a shared server. Its name is also part of the titles of its processes. */
    private static final String WHO_ARE_YOU = """
            SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::bigint, current_setting('data_directory')
            WHERE current_setting('cluster_name') = ?
            """;

    private final SharedServer shared;

    PostgresStarter(SharedServer shared) {
        this.shared = shared;
    }

    /**
     * Starts a server on a new directory.
     *
     * @return the port on which it listens
     */
    int start() throws IOException {
        LOG.info("Starting a PostgreSQL ({}); the first time takes a few seconds longer", shared.name());
        Path directory = Files.createTempDirectory(shared.home(), "server-");
        Path log = ServerProcess.log(directory);
        try {
            // Never closed: the server is to live on without this process. pg_ctl gives it a session of its own, so
            // that neither a Ctrl-C in the terminal nor the end of this process reaches it.
            return PostgresBinaries.builder()
                    .setPort(shared.port())
                    .setPGStartupWait(TIME_TO_START)
                    .setRegisterShutdownHook(false)
                    // The default is one directory for all users, where the first one's files may be closed to others.
                    .setOverrideWorkingDirectory(
                            shared.home().resolve("binaries").toFile())
                    // The same outside of that default: the next process that starts a server stops and deletes
                    // whatever lies there unlocked for ten minutes, such as the data of a server whose starter was
                    // killed.
                    .setDataDirectory(directory.resolve("data"))
                    // A pipe would end with this process, and the server's log with it.
                    .setOutputRedirector(Redirect.appendTo(log.toFile()))
                    .setErrorRedirector(Redirect.appendTo(log.toFile()))
                    .setLocaleConfig("locale", "C")
                    .setServerConfig("cluster_name", shared.name())
                    .setServerConfig("unix_socket_directories", "")
                    .start()
                    .getPort();
        } catch (IOException | RuntimeException ex) {
            throw new IOException(
                    "PostgreSQL does not start; its log is " + log + ". As root it needs user namespaces"
                            + " (unshare -U), which some containers forbid: run this as another user, or "
                            + shared.remedy(),
                    ex);
        }
    }

    /** The server process of this connection; {@code null} if the server is not the shared one. */
    @Nullable
    ServerProcess behind(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(WHO_ARE_YOU)) {
            statement.setString(1, shared.name());
            try (ResultSet answer = statement.executeQuery()) {
                if (!answer.next()) {
                    return null;
                }
                Path directory = Path.of(answer.getString(2), "..").normalize();
                return new ServerProcess("postgres", answer.getLong(1), directory);
            }
        }
    }
}
