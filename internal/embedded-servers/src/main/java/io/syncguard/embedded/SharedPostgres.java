package io.syncguard.embedded;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.FileChannel;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process's membership in a PostgreSQL server that several processes on this machine share.
 *
 * <p>The first process starts the server, later ones find it on its port, and the last one to leave stops it and
 * removes its data. No process owns the server: it survives the kill of any of them. After a {@code kill -9} of
 * the last process the server is left over. The next process joins it, and stops it if it is the last one to leave.
 * Or stop it by hand: every process that joins logs the process id of the server.
 *
 * <p>A shared advisory lock on an open connection shows the other processes that this one uses the server. The server
 * ends the lock when the process dies.
 */
public final class SharedPostgres implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedPostgres.class);

    private static final String USER = "postgres";
    private static final int LOGIN_TIMEOUT_SECONDS = 5;

    private static final String ENTER = "SELECT pg_advisory_lock_shared(54329)";
    /** A session's own shared lock does not conflict, so this is true only for the last session. */
    private static final String IS_LAST = "SELECT pg_try_advisory_lock(54329)";

    private final SharedServer shared;
    private final Connection membership;
    private final ServerProcess process;

    private SharedPostgres(SharedServer shared, Connection membership, ServerProcess process) {
        this.shared = shared;
        this.membership = membership;
        this.process = process;
    }

    /** Joins the server, and starts it if nothing listens on its port. */
    public static SharedPostgres join(SharedServer shared) throws IOException, SQLException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            Connection found = shared.port() == 0 ? null : connect(shared);
            SharedPostgres joined = found == null ? start(shared) : enter(shared, found);
            LOG.info("Joined {} as user {}: {}", joined.url(), USER, joined.process);
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
            boolean isLast = isLast();
            membership.close();
            if (isLast) {
                process.stop();
            }
        } catch (SQLException ex) {
            LOG.info("{} is gone already: {}", url(), ex.getMessage());
        }
    }

    private static SharedPostgres start(SharedServer shared) throws IOException, SQLException {
        SharedServer started = shared.withPort(new PostgresStarter(shared).start());
        Connection connection = connect(started);
        if (connection == null) {
            throw new IOException("The PostgreSQL that was started does not listen on port " + started.port());
        }
        return enter(started, connection);
    }

    private static SharedPostgres enter(SharedServer shared, Connection connection) throws SQLException {
        ServerProcess process = new PostgresStarter(shared).behind(connection);
        if (process == null) {
            connection.close();
            throw new IllegalStateException("The PostgreSQL on port " + shared.port() + " is not the one of "
                    + shared.name() + ": " + shared.remedy());
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(ENTER);
        }
        return new SharedPostgres(shared, connection, process);
    }

    /** Connects to the server that listens on the port; {@code null} if there is none. */
    private static @Nullable Connection connect(SharedServer shared) throws SQLException {
        try {
            return DriverManager.getConnection(url(shared) + "?loginTimeout=" + LOGIN_TIMEOUT_SECONDS, USER, "");
        } catch (SQLException ex) {
            if (ex.getCause() instanceof ConnectException) {
                return null;
            }
            throw new SQLException(
                    "What listens on port " + shared.port() + " is not the PostgreSQL of " + shared.name() + ": "
                            + shared.remedy(),
                    ex);
        }
    }

    private static String url(SharedServer shared) {
        return "jdbc:postgresql://127.0.0.1:" + shared.port() + "/postgres";
    }

    private boolean isLast() throws SQLException {
        try (Statement statement = membership.createStatement();
                ResultSet answer = statement.executeQuery(IS_LAST)) {
            return answer.next() && answer.getBoolean(1);
        }
    }
}
