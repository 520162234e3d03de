package io.syncguard.embedded;

import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a PostgreSQL that outlives this process. */
final class PostgresStarter {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresStarter.class);

    private static final Duration TIME_TO_START = Duration.ofSeconds(60);

    private final SharedServer shared;

    PostgresStarter(SharedServer shared) {
        this.shared = shared;
    }

    static boolean isRunning(SharedServer shared) throws IOException {
        return pidFile(shared).process().isPresent();
    }

    static PidFile pidFile(SharedServer shared) throws IOException {
        return new PidFile(data(shared).resolve("postmaster.pid"));
    }

    private static Path data(SharedServer shared) throws IOException {
        return shared.directory().resolve("data");
    }

    /** Starts the server in a new directory. */
    void start() throws IOException {
        LOG.info("Starting a PostgreSQL ({}); the first time takes a few seconds longer", shared.name());
        if (!shared.isPortFree()) {
            throw ServerNotStartedException.portTaken("PostgreSQL", shared);
        }
        shared.createDirectory();
        Redirect log = Redirect.appendTo(shared.log().toFile());
        try {
            // Never closed: the server is to live on without this process. pg_ctl gives it a session of its own, so
            // that neither a Ctrl-C in the terminal nor the end of this process reaches it.
            PostgresBinaries.builder()
                    .setPort(shared.port())
                    .setPGStartupWait(TIME_TO_START)
                    .setRegisterShutdownHook(false)
                    .setDataDirectory(data(shared))
                    // A pipe would end with this process, and the server's log with it.
                    .setOutputRedirector(log)
                    .setErrorRedirector(log)
                    .setLocaleConfig("locale", "C")
                    .setServerConfig("cluster_name", shared.name())
                    .start();
        } catch (IOException | RuntimeException ex) {
            pidFile(shared).stop();
            throw notStarted(ex);
        }
    }

    private ServerNotStartedException notStarted(Exception cause) throws IOException {
        if ("root".equals(System.getProperty("user.name")) && !LinuxUtils.isUnshareAvailable()) {
            return new ServerNotStartedException(
                    "PostgreSQL does not run as root, and this system has no user namespaces (unshare -U) for it",
                    "run this as another user, or " + shared.remedy(),
                    cause);
        }
        return shared.notStarted("PostgreSQL", cause);
    }
}
