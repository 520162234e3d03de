package io.syncguard.sample.postgres;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;

/**
 * One instance's membership in the PostgreSQL server that all instances of the sample on this machine share.
 *
 * <p>The first instance starts the server, later ones find it on its port, and the last one to leave stops it and removes
 * its data. No instance owns it: it outlives one that is killed, whoever that was. After a {@code kill -9} of the last
 * instance the server is left over; the next instance joins it, and stops it when it leaves as the last one. Or stop it by
 * hand, with the process id that every instance logs at its start.
 *
 * <p>An advisory lock, shared and held by a connection that stays open, tells the others that this instance is there: the
 * server itself ends it when the process dies.
 */
final class SharedPostgres implements JdbcConnectionDetails, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedPostgres.class);

    private static final String USER = "postgres";
    private static final int LOGIN_TIMEOUT_SECONDS = 5;

    private static final String ENTER = "SELECT pg_advisory_lock_shared(54329)";
    /** A session's own shared lock does not stand in its way, so this is true for the last one alone. */
    private static final String IS_LAST = "SELECT pg_try_advisory_lock(54329)";

    private final String url;
    private final Connection membership;
    private final PostgresProcess server;

    private SharedPostgres(String url, Connection membership, PostgresProcess server) {
        this.url = url;
        this.membership = membership;
        this.server = server;
    }

    /**
     * Joins the server on this port, and starts it if nothing listens there.
     *
     * @param port a port of the loopback interface; 0 starts a server of one's own on a free one
     */
    static SharedPostgres join(int port) throws IOException, SQLException {
        // Without turns two instances that start at once would both find nothing and start a server each, and one that
        // leaves could stop the server that another has just found. The end of a process ends its turn, too.
        try (FileChannel turn = openTurn()) {
            turn.lock();
            Connection found = port == 0 ? null : connect(port);
            SharedPostgres joined = found == null ? start(port) : enter(port, found);
            LOG.info("PostgreSQL of the sample: {} user {}, {}", joined.url, USER, joined.server);
            return joined;
        }
    }

    @Override
    public String getJdbcUrl() {
        return url;
    }

    @Override
    public String getUsername() {
        return USER;
    }

    @Override
    public @Nullable String getPassword() {
        return null;
    }

    /** Leaves the server, and stops it if nobody else is there. */
    @Override
    public void close() throws IOException {
        try (FileChannel turn = openTurn()) {
            turn.lock();
            boolean isLast = isLast();
            membership.close();
            if (isLast) {
                server.stop();
            }
        } catch (SQLException ex) {
            LOG.info("The PostgreSQL of the sample is gone already: {}", ex.getMessage());
        }
    }

    private static FileChannel openTurn() throws IOException {
        return FileChannel.open(
                PostgresProcess.home().resolve("turn"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private static SharedPostgres start(int wantedPort) throws IOException, SQLException {
        int port = PostgresProcess.start(wantedPort);
        Connection connection = connect(port);
        if (connection == null) {
            throw new IOException("The PostgreSQL that was started does not listen on port " + port);
        }
        return enter(port, connection);
    }

    private static SharedPostgres enter(int port, Connection connection) throws SQLException {
        PostgresProcess server = PostgresProcess.behind(connection);
        if (server == null) {
            connection.close();
            throw new IllegalStateException("The PostgreSQL on port " + port
                    + " is not one of this sample: set sample.postgres-port to a free port,"
                    + " or spring.datasource.url to use that server");
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(ENTER);
        }
        return new SharedPostgres(url(port), connection, server);
    }

    /** A connection to whatever listens on the port; {@code null} when nothing does. */
    private static @Nullable Connection connect(int port) throws SQLException {
        try {
            return DriverManager.getConnection(url(port) + "?loginTimeout=" + LOGIN_TIMEOUT_SECONDS, USER, "");
        } catch (SQLException ex) {
            if (ex.getCause() instanceof ConnectException) {
                return null;
            }
            throw new SQLException(
                    "What listens on port " + port
                            + " does not let the sample in: set sample.postgres-port to a free port",
                    ex);
        }
    }

    private static String url(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    private boolean isLast() throws SQLException {
        try (Statement statement = membership.createStatement();
                ResultSet answer = statement.executeQuery(IS_LAST)) {
            return answer.next() && answer.getBoolean(1);
        }
    }
}
