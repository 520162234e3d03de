package io.syncguard.portable;

import io.syncguard.LockSetupException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tries the tables at the start, in a transaction that is rolled back: the rights, the length and the comparison of
 * keys, and whether the tables roll back at all.
 */
final class StartCheck {

    private static final Log log = LogFactory.getLog(StartCheck.class);

    private final Connection connection;
    private final Session session;
    private final Dialect dialect;
    private final PortableTables tables;

    StartCheck(Connection connection, Dialect dialect, PortableTables tables) {
        this.connection = connection;
        this.session = new Session(connection, false);
        this.dialect = dialect;
        this.tables = tables;
    }

    /** Whether a table or a column is missing. */
    boolean isMissing() throws SQLException {
        try {
            session.send(KeyRows.readNothing(tables, dialect));
            return false;
        } catch (SQLException ex) {
            if (PortableErrors.isMissingTable(ex)) {
                return true;
            }
            throw ex;
        }
    }

    /** @throws LockSetupException if they cannot keep locks */
    void run() throws SQLException {
        // Several instances may start at the same time.
        String unique = "syncguard start check " + UUID.randomUUID() + " ";
        String key = unique + "a".repeat(512 - unique.length());
        List<byte[]> keys = KeyRows.bytes(List.of(key, key.substring(0, 511) + "A", unique, unique + " "));
        Sql found = new Sql(
                "SELECT lock_key FROM " + tables.keys() + " WHERE lock_key IN (" + Sql.marks(keys.size())
                        + ") FOR UPDATE SKIP LOCKED",
                keys);
        try {
            session.begin(List.of(new Sql(dialect.insertKeys(tables.keys(), keys.size()), keys)));
            boolean areKept = session.send(List.of(found)).get(0).rows().size() == keys.size();
            session.send(KeyRows.trials(tables, keys.get(0)));
            session.rollBack();
            if (!areKept) {
                throw refused("compares keys in another way than by their 512 bytes");
            }
        } catch (Throwable ex) {
            session.endAfter(ex);
            throw ex;
        }
        if (!session.send(List.of(found)).get(0).rows().isEmpty()) {
            throw refused("does not roll back");
        }
        try {
            warnWithoutIndex(tables.leases());
            warnWithoutIndex(tables.waiters());
        } catch (SQLFeatureNotSupportedException ex) {
            log.debug("The connection does not tell the indexes of a table", ex);
        }
    }

    private LockSetupException refused(String reason) {
        return LockSetupException.invalid(
                "The table '" + tables.keys() + "' " + reason
                        + ": it is not as the script of SyncGuard makes it, and two callers could hold one lock",
                "Drop the tables " + tables + ", and start the application again, which creates them",
                "Choose other tables in syncguard.jdbc.table-prefix");
    }

    /** Without such an index, the operations on one key read the rows of all, and lock them on some databases. */
    private void warnWithoutIndex(String table) throws SQLException {
        DatabaseMetaData database = connection.getMetaData();
        String stored = database.storesUpperCaseIdentifiers() ? table.toUpperCase(Locale.ROOT) : table;
        int dot = stored.indexOf('.');
        String schema = dot < 0 ? null : stored.substring(0, dot);
        boolean hasSchemas = database.supportsSchemasInTableDefinitions();
        Set<String> begins = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        try (ResultSet columns = database.getIndexInfo(
                schema == null || hasSchemas ? connection.getCatalog() : schema,
                hasSchemas ? schema : null,
                stored.substring(dot + 1),
                false,
                true)) {
            while (columns.next()) {
                if (columns.getInt("ORDINAL_POSITION") == 1) {
                    begins.add(columns.getString("COLUMN_NAME"));
                }
            }
        }
        // None at all means that the name is stored in another way.
        for (String column : List.of("lock_key", "channel")) {
            if (!begins.isEmpty() && !begins.contains(column)) {
                log.warn("The table '" + table + "' has no index that begins with " + column
                        + ": locks are slow with many rows. Create it as the script of SyncGuard does");
            }
        }
    }
}
