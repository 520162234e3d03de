package io.syncguard.sample.embedded;

import io.syncguard.embedded.ServerNotStartedException;
import io.syncguard.embedded.SharedServer;
import java.io.Closeable;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.h2.tools.Server;

/** A database in the memory of the first instance, which serves it to the others until it ends. */
record H2Memory(String url, Closeable end) implements Closeable {

    static final String USER = "sa";

    private static final String DATABASE = "mem:sample;MODE=MariaDB";

    /** Without it, another program on the port could keep this one waiting. */
    private static final String MILLIS_TO_ANSWER = ";NETWORK_TIMEOUT=5000";

    /** Serves the database, or joins that of the first instance. */
    static H2Memory join(SharedServer shared) throws SQLException {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        Server server = Server.createTcpServer("-tcpPort", Integer.toString(shared.port()));
        // The database is created before the server starts, because the server creates none for others.
        Connection database = connect("jdbc:h2:" + DATABASE);
        try {
            server.start();
        } catch (SQLException taken) {
            database.close();
            return joinFirst(shared);
        }
        return new H2Memory("jdbc:h2:" + DATABASE, () -> {
            server.stop();
            close(database);
        });
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    private static H2Memory joinFirst(SharedServer shared) {
        String url = "jdbc:h2:tcp://127.0.0.1:" + shared.port() + "/" + DATABASE;
        try {
            connect(url + MILLIS_TO_ANSWER).close();
        } catch (SQLException ex) {
            throw ServerNotStartedException.portTaken("H2", shared);
        }
        return new H2Memory(url, () -> {});
    }

    private static Connection connect(String url) throws SQLException {
        return DriverManager.getConnection(url, USER, "");
    }

    private static void close(Connection database) throws IOException {
        try {
            database.close();
        } catch (SQLException ex) {
            throw new IOException(ex);
        }
    }
}
