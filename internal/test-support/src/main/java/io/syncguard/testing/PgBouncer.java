package io.syncguard.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.embedded.RunDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.postgresql.Driver;
import org.springframework.util.FileSystemUtils;

/**
 * The real PgBouncer in front of the test server: the program that the environment variable {@value #PROGRAM} names, or
 * that of Debian's package. Tests are reported as skipped, with the reason, if it is not installed.
 */
public final class PgBouncer implements AutoCloseable {

    private static final String PROGRAM = "SYNCGUARD_TEST_PGBOUNCER";

    private static final String DEFAULT_PROGRAM = "/usr/sbin/pgbouncer";

    private final Path directory;
    private final int port;
    private final Process process;

    private PgBouncer(Path directory, int port, Process process) {
        this.directory = directory;
        this.port = port;
        this.process = process;
    }

    /** A pooler that lends a session for one transaction. */
    public static PgBouncer poolingTransactions(String url, String... settings) {
        return start(url, "transaction", settings);
    }

    /** A pooler that lends a session for one statement. */
    public static PgBouncer poolingStatements(String url) {
        return start(url, "statement");
    }

    /** A pooler that lends a session until the client disconnects. */
    public static PgBouncer poolingSessions(String url) {
        return start(url, "session");
    }

    /** Skips the test if PgBouncer is not installed. */
    public static void assumeInstalled() {
        Path program = program();
        assumeTrue(
                Files.isExecutable(program),
                program + " is no program: install PgBouncer, or name it in " + PROGRAM + ", to run these tests");
    }

    /** The port on this machine. */
    public int port() {
        return port;
    }

    /** The URL of the same database through the pooler. */
    public String url(String url) {
        return url.replaceFirst("//[^/]+/", "//127.0.0.1:" + port + "/");
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
        try {
            FileSystemUtils.deleteRecursively(directory);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Path program() {
        return Path.of(Objects.requireNonNullElse(System.getenv(PROGRAM), DEFAULT_PROGRAM));
    }

    private static PgBouncer start(String url, String mode, String... settings) {
        assumeInstalled();
        try {
            Path directory = RunDirectory.newDirectory("pgbouncer");
            int port = freePort();
            Path configuration = directory.resolve("pgbouncer.ini");
            Files.write(configuration, configuration(url, mode, port, settings));
            Path log = directory.resolve("pgbouncer.log");
            PgBouncer pooler = new PgBouncer(directory, port, launch(configuration, log));
            pooler.awaitReady(pooler.url(url), log);
            return pooler;
        } catch (IOException ex) {
            throw new UncheckedIOException("PgBouncer did not start", ex);
        }
    }

    private static Process launch(Path configuration, Path log) throws IOException {
        List<String> command = new ArrayList<>(List.of(program().toString()));
        if (isRoot()) {
            // PgBouncer refuses to run as root.
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(configuration.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Files.writeString(log.resolveSibling("pgbouncer.pid"), Long.toString(process.pid()));
        return process;
    }

    private static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    /** The configuration. PgBouncer logs every client in at the server as the user of the URL. */
    private static List<String> configuration(String url, String mode, int port, String... settings) {
        Properties server = Objects.requireNonNull(Driver.parseURL(url, null), url);
        String password = server.getProperty("password", "");
        return Stream.concat(
                        Stream.of(
                                "[databases]",
                                "* = host=" + server.getProperty("PGHOST") + " port=" + server.getProperty("PGPORT")
                                        + " user=" + server.getProperty("user")
                                        + (password.isEmpty() ? "" : " password=" + password),
                                "[pgbouncer]",
                                "listen_addr = 127.0.0.1",
                                "listen_port = " + port,
                                "unix_socket_dir =",
                                "auth_type = any",
                                "pool_mode = " + mode,
                                "default_pool_size = 4"),
                        Stream.of(settings))
                .toList();
    }

    private void awaitReady(String url, Path log) throws IOException {
        try {
            Awaitility.await("PgBouncer")
                    .atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> {
                        try (Connection connection = DriverManager.getConnection(url)) {
                            return connection.isValid(1);
                        }
                    });
        } catch (RuntimeException ex) {
            String said = Files.readString(log);
            close();
            throw new IllegalStateException("PgBouncer did not start: " + said, ex);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
