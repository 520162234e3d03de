package io.syncguard.testing;

import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.embedded.OwnMariaDb;
import io.syncguard.embedded.RunDirectory;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The one real MariaDB or MySQL of a test run: the server of the environment variable {@value #URL} (a JDBC URL of an
 * administrator, with a database and parameters) where it is set, else an embedded MariaDB. Tests are reported as
 * skipped, with the reason, if its binaries do not run.
 */
public final class MariaDbServer {

    private static final String URL = "SYNCGUARD_TEST_MARIADB_URL";

    private static final String MYSQL_URL = "SYNCGUARD_TEST_MYSQL_URL";

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private MariaDbServer() {}

    /** The URL of a new, empty database for MariaDB's driver. */
    public static String newDatabaseUrl() {
        assumeTrue(
                System.getenv(URL) != null || isLinuxOnX86(),
                "The embedded MariaDB runs on Linux on x86-64: name a server in " + URL + " to run these tests");
        return newDatabaseUrl(Running.SERVER_URL);
    }

    /** The URL of a new, empty database on the MySQL of the environment variable {@value #MYSQL_URL}. */
    public static String newMySqlDatabaseUrl() {
        String server = System.getenv(MYSQL_URL);
        assumeTrue(server != null, "There is no embedded MySQL: name a server in " + MYSQL_URL + " to run these tests");
        return newDatabaseUrl(server);
    }

    private static String newDatabaseUrl(String server) {
        String name = "test_" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
        try (Connection connection = DriverManager.getConnection(server);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        } catch (SQLException ex) {
            throw new IllegalStateException("No test database could be made at the test server", ex);
        }
        return server.replaceFirst("(jdbc:\\w+://[^/]+/)[^?]*", "$1" + name);
    }

    private static boolean isLinuxOnX86() {
        return System.getProperty("os.name").equals("Linux")
                && System.getProperty("os.arch").equals("amd64");
    }

    /** Started for the first test that needs it. */
    private static final class Running {

        private static final String SERVER_URL = start();

        private static String start() {
            String configured = System.getenv(URL);
            return configured == null ? startEmbedded() : configured;
        }

        private static String startEmbedded() {
            Path files = RunDirectory.newDirectory("mariadb");
            assumeFalse(files.toString().contains(" "), "The embedded MariaDB does not start below " + files);
            return new OwnMariaDb(files).url("");
        }
    }
}
