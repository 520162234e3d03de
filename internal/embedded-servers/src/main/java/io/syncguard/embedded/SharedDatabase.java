package io.syncguard.embedded;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process's membership in a PostgreSQL or MariaDB server that several processes of a user share.
 *
 * <p>The first process starts the server, later ones find it on its port, and the last one to leave stops it and
 * removes its data. No process owns the server: it survives the kill of any of them. After a {@code kill -9} of
 * the last process the server is left over. The next process that joins a server of this name stops it, or joins it if
 * it has the same port.
 *
 * <p>An open connection shows the other processes that this one uses the server. It ends with the process.
 */
public final class SharedDatabase implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedDatabase.class);

    private final SharedServer shared;
    private final DatabaseStarter starter;
    private final Connection membership;

    private SharedDatabase(DatabaseStarter starter, Connection membership) {
        this.shared = starter.server();
        this.starter = starter;
        this.membership = membership;
    }

    /**
     * Joins a PostgreSQL, and starts it if it does not run.
     *
     * @throws ServerNotStartedException if it does not start
     */
    public static SharedDatabase postgres(SharedServer shared) throws IOException, SQLException {
        return join(shared, PostgresStarter::new);
    }

    /**
     * Joins a MariaDB, and starts it if it does not run. It runs on Linux on x86-64 alone.
     *
     * @throws ServerNotStartedException if it does not start
     */
    public static SharedDatabase mariaDb(SharedServer shared) throws IOException, SQLException {
        return join(shared, MariaDbStarter::new);
    }

    private static SharedDatabase join(SharedServer shared, Function<SharedServer, DatabaseStarter> kind)
            throws IOException, SQLException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            SharedServer server = shared.withPort();
            for (SharedServer other : server.others()) {
                stopIfUnused(kind.apply(other));
            }
            DatabaseStarter starter = kind.apply(server);
            if (!isRunning(starter)) {
                starter.start();
            }
            SharedDatabase joined = enter(starter);
            LOG.info("Joined {} as user {}, files in {}", joined.url(), joined.user(), server.directory());
            return joined;
        }
    }

    /** The JDBC URL of the server's database. */
    public String url() {
        return starter.url();
    }

    /** An administrator, without a password. */
    public String user() {
        return starter.user();
    }

    /** Leaves the server, and stops it if no other process uses it. */
    @Override
    public void close() throws IOException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            leave();
        } catch (SQLException ex) {
            LOG.info("{} is gone already: {}", url(), ex.getMessage());
        }
    }

    private static void stopIfUnused(DatabaseStarter other) throws IOException {
        if (!isRunning(other)) {
            other.server().removeDirectory();
            return;
        }
        try {
            enter(other).leave();
        } catch (SQLException ex) {
            LOG.info("{} does not answer: {}", other.url(), ex.getMessage());
        }
    }

    private static boolean isRunning(DatabaseStarter starter) throws IOException {
        return starter.pidFile().process().isPresent();
    }

    private static SharedDatabase enter(DatabaseStarter starter) throws SQLException {
        Connection connection =
                DriverManager.getConnection(starter.url() + "?" + starter.connectTimeout(), starter.user(), "");
        try (Statement statement = connection.createStatement()) {
            for (String each : starter.enter()) {
                statement.execute(each);
            }
        }
        return new SharedDatabase(starter, connection);
    }

    private void leave() throws IOException, SQLException {
        boolean isLast;
        try (Connection ended = membership;
                Statement statement = ended.createStatement();
                ResultSet answer = statement.executeQuery(starter.isLast())) {
            isLast = answer.next() && answer.getBoolean(1);
        }
        if (isLast) {
            starter.pidFile().stop();
            shared.removeDirectory();
        }
    }
}
