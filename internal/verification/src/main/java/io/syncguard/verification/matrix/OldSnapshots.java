package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.springframework.jdbc.support.JdbcUtils;

/** Transactions that stay open, so that the server keeps the row versions that they can see. */
final class OldSnapshots {

    private static final int ANSWER_SECONDS = 10;

    private OldSnapshots() {}

    /**
     * Opens two transactions, an idle one that has written and one that reads. The caller must keep the connections:
     * the driver closes unreferenced ones.
     */
    static List<Connection> open(OwnPostgres server) {
        try {
            Connection idle = DriverManager.getConnection(server.url());
            idle.setAutoCommit(false);
            try (Statement statement = idle.createStatement()) {
                statement.execute("SELECT txid_current()");
            }
            return List.of(idle, openReader(server));
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    static void requireOpen(List<Connection> transactions) throws SQLException {
        for (Connection each : transactions) {
            if (!each.isValid(ANSWER_SECONDS)) {
                throw new IllegalStateException("An old snapshot is gone");
            }
        }
    }

    /** Keeps a reader's snapshot of this moment open during the action. */
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
