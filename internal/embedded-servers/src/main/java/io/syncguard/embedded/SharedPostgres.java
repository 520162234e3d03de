package io.syncguard.embedded;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process's membership in a PostgreSQL server that several processes of a user share.
 *
 * <p>The first process starts the server, later ones find it on its port, and the last one to leave stops it and
 * removes its data. No process owns the server: it survives the kill of any of them. After a {@code kill -9} of
 * the last process the server is left over. The next process that joins a server of this name stops it, or joins it if
 * it has the same port.
 *
 * <p>A shared advisory lock on an open connection shows the other processes that this one uses the server. The server
 * ends the lock when the process dies.
 */
public final class SharedPostgres implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedPostgres.class);

    private static final String USER = "postgres";
    private static final int LOGIN_TIMEOUT_SECONDS = 5;

    private static final String ENTER = "SELECT pg_advisory_lock_shared(54329)";
    /** A session's own shared lock does not conflict, so this is true only for the last session. */
    private static final String IS_LAST = "SELECT pg_try_advisory_lock(54329)";

    private final SharedServer shared;
    private final Connection membership;

    private SharedPostgres(SharedServer shared, Connection membership) {
        this.shared = shared;
        this.membership = membership;
    }

    /**
     * Joins the server, and starts it if it does not run.
     *
     * @throws ServerNotStartedException if it does not start
     */
    public static SharedPostgres join(SharedServer shared) throws IOException, SQLException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            SharedServer server = shared.withPort();
            for (SharedServer other : server.others()) {
                stopIfUnused(other);
            }
            if (!PostgresStarter.isRunning(server)) {
                new PostgresStarter(server).start();
            }
            SharedPostgres joined = enter(server);
            LOG.info("Joined {} as user {}, files in {}", joined.url(), USER, server.directory());
            return joined;
        }
    }

    /** The JDBC URL of the server's only database. */
    public String url() {
        return url(shared);
    }

    /** A superuser, without a password. */
    public String user() {
        return USER;
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

    private static void stopIfUnused(SharedServer other) throws IOException {
        if (!PostgresStarter.isRunning(other)) {
            other.removeDirectory();
            return;
        }
        try {
            enter(other).leave();
        } catch (SQLException ex) {
            LOG.info("{} does not answer: {}", url(other), ex.getMessage());
        }
    }

    private static SharedPostgres enter(SharedServer server) throws SQLException {
        Connection connection =
                DriverManager.getConnection(url(server) + "?loginTimeout=" + LOGIN_TIMEOUT_SECONDS, USER, "");
        try (Statement statement = connection.createStatement()) {
            statement.execute(ENTER);
        }
        return new SharedPostgres(server, connection);
    }

    private void leave() throws IOException, SQLException {
        boolean isLast;
        try (Connection ended = membership;
                Statement statement = ended.createStatement();
                ResultSet answer = statement.executeQuery(IS_LAST)) {
            isLast = answer.next() && answer.getBoolean(1);
        }
        if (isLast) {
            PostgresStarter.pidFile(shared).stop();
            shared.removeDirectory();
        }
    }

    private static String url(SharedServer shared) {
        return "jdbc:postgresql://127.0.0.1:" + shared.port() + "/postgres";
    }
}
