package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

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
            open(server);
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** A reader that sees the state of this moment until its connection is closed. */
    static Connection open(OwnPostgres server) throws SQLException {
        Connection reader = DriverManager.getConnection(server.url());
        reader.setAutoCommit(false);
        reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = reader.createStatement()) {
            statement.execute("SELECT count(*) FROM heads");
        }
        return reader;
    }
}
