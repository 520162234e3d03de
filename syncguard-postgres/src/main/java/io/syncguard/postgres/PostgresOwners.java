package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * Checks at the start that no stranger owns a table, function or type with a name of the library: its code would run
 * with the rights of the locks' user, and could read lock ids. The script says who is a stranger.
 */
final class PostgresOwners {

    private PostgresOwners() {}

    /** @throws LockSetupException if a stranger owns an object, which it names */
    static void require(Connection connection, PostgresScript script) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(script.foreignObjects())) {
            if (rows.next()) {
                throw foreign(
                        rows.getString("kind") + " '" + rows.getString("name") + "'",
                        rows.getString("owner"),
                        rows.getString("me"),
                        rows.getString("home"));
            }
        }
    }

    private static LockSetupException foreign(String object, String owner, String user, String schema) {
        return new LockSetupException(
                LockErrorCode.AUTH_FAILED,
                "The " + object + " of SyncGuard belongs to '" + owner + "', whose code would run with the rights of '"
                        + user + "'",
                List.of(
                        "If somebody else has put it there: drop it, and let only the owner of the tables create in the"
                                + " schema " + schema,
                        "If '" + owner + "' creates SyncGuard's tables: make it the owner of the schema " + schema
                                + ", or revoke CREATE on it from '" + user + "' and PUBLIC"),
                null);
    }
}
