package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Refuses a server that cannot store locks, at the start, and says what to do. */
final class PostgresServerCheck {

    private PostgresServerCheck() {}

    static void requirePostgres(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw LockSetupException.invalid(
                    "SyncGuard keeps its locks in PostgreSQL, but the DataSource leads to " + product,
                    "Mark a DataSource that leads to PostgreSQL with @SyncGuardDataSource",
                    "Set syncguard.enabled=false");
        }
    }

    /** A standby answers queries and refuses each lock. So does the reader endpoint of a cluster. */
    static void requirePrimary(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT pg_catalog.pg_is_in_recovery()")) {
            if (rows.next() && rows.getBoolean(1)) {
                throw new LockSetupException(
                        LockErrorCode.SERVICE_UNAVAILABLE,
                        "The DataSource leads to a standby or a reader endpoint, which does not serve writes: SyncGuard"
                                + " cannot store locks there",
                        List.of(
                                "Lead it to the primary server: correct spring.datasource.url (targetServerType=primary"
                                        + " in a URL with several hosts)",
                                "Mark a DataSource that leads there with @SyncGuardDataSource"),
                        null);
            }
        }
    }
}
