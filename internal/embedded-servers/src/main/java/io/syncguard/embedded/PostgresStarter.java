package io.syncguard.embedded;

import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a PostgreSQL that outlives this process. */
record PostgresStarter(SharedServer server) implements DatabaseStarter {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresStarter.class);

    private static final Duration TIME_TO_START = Duration.ofSeconds(60);

    /** The server ends the lock when the process dies. */
    private static final List<String> ENTER = List.of("SELECT pg_advisory_lock_shared(54329)");

    /** A session's own shared lock does not conflict, so this is true only for the last session. */
    private static final String IS_LAST = "SELECT pg_try_advisory_lock(54329)";

    @Override
    public PidFile pidFile() throws IOException {
        return new PidFile(data().resolve("postmaster.pid"));
    }

    @Override
    public void start() throws IOException {
        LOG.info("Starting a PostgreSQL ({}); the first time takes a few seconds longer", server.name());
        server.createDirectory("PostgreSQL");
        Redirect log = Redirect.appendTo(server.log().toFile());
        try {
            // Never closed: the server is to live on without this process. pg_ctl gives it a session of its own, so
            // that neither a Ctrl-C in the terminal nor the end of this process reaches it.
            PostgresBinaries.builder()
                    .setPort(server.port())
                    .setPGStartupWait(TIME_TO_START)
                    .setRegisterShutdownHook(false)
                    .setDataDirectory(data())
                    // A pipe would end with this process, and the server's log with it.
                    .setOutputRedirector(log)
                    .setErrorRedirector(log)
                    .setLocaleConfig("locale", "C")
                    .setServerConfig("cluster_name", server.name())
                    .start();
        } catch (IOException | RuntimeException ex) {
            pidFile().stop();
            throw notStarted(ex);
        }
    }

    @Override
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres";
    }

    @Override
    public String user() {
        return "postgres";
    }

    @Override
    public String connectTimeout() {
        return "loginTimeout=5";
    }

    @Override
    public List<String> enter() {
        return ENTER;
    }

    @Override
    public String isLast() {
        return IS_LAST;
    }

    private Path data() throws IOException {
        return server.directory().resolve("data");
    }

    private ServerNotStartedException notStarted(Exception cause) throws IOException {
        if ("root".equals(System.getProperty("user.name")) && !LinuxUtils.isUnshareAvailable()) {
            return new ServerNotStartedException(
                    "PostgreSQL does not run as root, and this system has no user namespaces (unshare -U) for it",
                    "run this as another user, or " + server.remedy(),
                    cause);
        }
        return server.notStarted("PostgreSQL", cause);
    }
}
