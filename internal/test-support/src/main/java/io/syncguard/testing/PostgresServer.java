package io.syncguard.testing;

import io.syncguard.embedded.PostgresBinaries;
import io.syncguard.embedded.RunDirectory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The one real PostgreSQL of a test run: the server of the environment variable {@value #URL} (a JDBC URL of a
 * superuser) if it is set, else a container if a Docker engine answers, else an embedded server.
 * {@link PostgresBinaries} determines the build of the embedded one.
 */
public final class PostgresServer {

    /** The application name of sessions that outlive the test that opened them. */
    public static final String KEPT = "kept for tests";

    private static final String URL = "SYNCGUARD_TEST_POSTGRES_URL";

    private static final Map<String, String> SETTINGS = Map.of(
            "shared_preload_libraries", "pg_stat_statements",
            "max_connections", "300",
            "max_prepared_transactions", "50");

    /** The file system in memory of Linux. Each test creates a database with 300 files. */
    private static final Path MEMORY = Path.of("/dev/shm");

    /** The bytes for four servers with two hundred databases each. */
    private static final long MEMORY_NEEDED = 8L << 30;

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private static final String SERVER_URL = start();

    private PostgresServer() {}

    /** Creates an empty database and returns its URL. */
    public static String newDatabaseUrl() {
        String name = "test_" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
        try (Connection connection = dataSource(SERVER_URL).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException ex) {
            throw new IllegalStateException("No test database could be made at the test server", ex);
        }
        return SERVER_URL.replaceFirst("(jdbc:postgresql://[^/]+/)[^?]*", "$1" + name);
    }

    /** Creates an empty database and returns its {@link #dataSource}. */
    public static DataSource newDatabase() {
        return dataSource(newDatabaseUrl());
    }

    /** Connections that look new, but may have been used before: see {@link KeptConnections}. */
    public static DataSource dataSource(String url) {
        return withUrl(new KeptConnections(), url);
    }

    /** Connections that are new: their sessions have the present settings of the server, and end when they close. */
    public static DataSource newConnections(String url) {
        return withUrl(new PGSimpleDataSource(), url);
    }

    private static DataSource withUrl(PGSimpleDataSource dataSource, String url) {
        dataSource.setURL(url);
        return dataSource;
    }

    private static String start() {
        String configured = System.getenv(URL);
        if (configured != null) {
            return configured;
        }
        return !PostgresBinaries.areConfigured()
                        && DockerClientFactory.instance().isDockerAvailable()
                ? startContainer()
                : startEmbedded();
    }

    private static String startContainer() {
        // Ryuk, not this process, stops the container after the run.
        PostgreSQLContainer container = new PostgreSQLContainer("postgres:18");
        List<String> command = new ArrayList<>(List.of("postgres"));
        SETTINGS.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        container.setCommand(command.toArray(new String[0]));
        container.start();
        return container.getJdbcUrl() + "&user=" + container.getUsername() + "&password=" + container.getPassword();
    }

    private static String startEmbedded() {
        try {
            EmbeddedPostgres.Builder server = PostgresBinaries.builder();
            SETTINGS.forEach(server::setServerConfig);
            server.setDataDirectory(
                    fitsIntoMemory()
                            ? RunDirectory.newDirectory(MEMORY, "postgres")
                            : RunDirectory.newDirectory("postgres"));
            return server.start().getJdbcUrl("postgres", "postgres");
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded PostgreSQL did not start", ex);
        }
    }

    private static boolean fitsIntoMemory() throws IOException {
        return Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() >= MEMORY_NEEDED
                && new AvailableMemory(Path.of("/")).bytes() >= MEMORY_NEEDED;
    }
}
