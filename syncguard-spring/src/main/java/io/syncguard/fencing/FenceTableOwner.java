package io.syncguard.fencing;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks on PostgreSQL that the table of the fences belongs to no stranger, whose code would run in the transactions
 * that check a fence, and that its rows are not hidden.
 */
record FenceTableOwner(Connection connection, FenceTable table) {

    private static final Pattern FOREIGN_OBJECTS = Pattern.compile("(?s)FOR \"Foreign\" IN(.*?)\\n    LOOP\\n");

    private static final String HIDDEN_ROWS = """
            SELECT pg_catalog.row_security_active(oid), current_user FROM pg_catalog.pg_class
            WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(?)
            """;

    /** @param script of the database, which has the query for strangers */
    void check(String script) throws SQLException {
        Matcher foreign = FOREIGN_OBJECTS.matcher(script.replaceAll("\r\n?", "\n"));
        if (!foreign.find()) {
            throw new IllegalStateException(script);
        }
        requireNoStranger(foreign.group(1));
        requireAllRows();
    }

    private void requireNoStranger(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
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
                "The " + object + " of the fences belongs to '" + owner + "', whose code would run with the rights of '"
                        + user + "'",
                List.of(
                        "If somebody else has put it there: drop it, and let only the owner of the table create in the"
                                + " schema " + schema,
                        "If '" + owner + "' creates this table: make it the owner of the schema " + schema
                                + ", or revoke CREATE on it from '" + user + "' and PUBLIC"),
                null);
    }

    private void requireAllRows() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(HIDDEN_ROWS)) {
            statement.setString(1, table.name());
            try (ResultSet rows = statement.executeQuery()) {
                if (rows.next() && rows.getBoolean(1)) {
                    throw new LockSetupException(
                            LockErrorCode.AUTH_FAILED,
                            "Row level security is on for the table of the fences, '" + table.name()
                                    + "', and the user '" + rows.getString(2) + "': a check fails where it hides a row",
                            List.of("Run as its owner: ALTER TABLE " + table.name()
                                    + " NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY"),
                            null);
                }
            }
        }
    }
}
