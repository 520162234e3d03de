package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.springframework.jdbc.support.JdbcUtils;

/** Transactions that stay open until the server stops, so that it may not remove the versions that they could see. */
final class OldSnapshots {

    private OldSnapshots() {}

    /** Holds two until the server stops: one that writes and idles, and one that reads. */
    static void hold(OwnPostgres server) {
        try {
            Connection idle = DriverManager.getConnection(server.url());
            idle.setAutoCommit(false);
            try (Statement statement = idle.createStatement()) {
                statement.execute("SELECT txid_current()");
            }
            openReader(server);
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** A reader sees the state of this moment for as long as the action takes. */
    static void during(OwnPostgres server, Runnable action) {
        Connection reader = null;
        try {
            reader = openReader(server);
            action.run();
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        } finally {
            JdbcUtils.closeConnection(reader);
        }
    }

    private static Connection openReader(OwnPostgres server) throws SQLException {
        Connection reader = DriverManager.getConnection(server.url());
        reader.setAutoCommit(false);
        reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = reader.createStatement()) {
            statement.execute("SELECT count(*) FROM heads");
        }
        return reader;
    }
}
