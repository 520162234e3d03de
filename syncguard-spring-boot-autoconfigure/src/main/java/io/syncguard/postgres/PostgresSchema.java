package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Provides the tables and functions: runs the script, or checks that it was run.
 */
public final class PostgresSchema {

    /** Where the script is on the class path: the location that Flyway is given. */
    public static final String LOCATION = "db/syncguard/postgresql";

    /** The script, which is a repeatable migration of Flyway. */
    private static final String SCRIPT = LOCATION + "/R__syncguard_schema.sql";

    /** The lowest answer of the script's version function that the library works with. */
    private static final int VERSION = 1;

    /** "SyncGuar" in ASCII: instances that start together run the script one after the other. */
    private static final long ADVISORY_LOCK = 0x53796e6347756172L;

    /** The limits of a lock operation are too short for a start-up of many instances. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final PostgresSessionSettings SETTINGS = new PostgresSessionSettings(PATIENCE);

    private static final String IS_COMPLETE = """
            SELECT to_regclass(?) IS NOT NULL AND to_regclass(?) IS NOT NULL AND to_regclass(?) IS NOT NULL
                AND to_regclass(?) IS NOT NULL AND to_regprocedure(?) IS NOT NULL
            """;

    /** By its exact signature: an overload of a name hides all functions of that name from to_regproc. */
    private static final String FENCE_COUNTERS = """
            SELECT prosrc FROM pg_proc WHERE oid = to_regprocedure(?)
            """;

    /** The function selects one text. It is read and not called: a role may not have its privileges yet. */
    private static final Pattern FENCE_COUNTERS_BODY = Pattern.compile("\\s*SELECT '(.*)'\\s*");

    private static final String VERSION_QUERY = """
            SELECT ${syncguard_locks}_version()
            """;

    private final DataSource dataSource;
    private final PostgresTables tables;

    public PostgresSchema(DataSource dataSource, PostgresTables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
    }

    /**
     * Runs the script unless the schema is up to date, so that a user without the right to create tables can start an
     * application on a schema that is there.
     *
     * @throws LockBackendException when the server refuses it
     */
    public void initialize() {
        run("setting up the tables of SyncGuard", connection -> {
            if (!isUpToDate(connection)) {
                runScript(connection);
            }
        });
    }

    /**
     * Checks that the schema is there and up to date.
     *
     * @throws LockBackendException with {@link LockErrorCode#SCHEMA_MISSING} when it is not
     */
    public void check() {
        run("looking for the tables of SyncGuard", connection -> {
            if (!isUpToDate(connection)) {
                throw new LockBackendException(
                        LockErrorCode.SCHEMA_MISSING,
                        "The tables '" + tables.locks() + "' and '" + tables.fenceCounters()
                                + "' or their functions are missing or of an older version. Run " + SCRIPT
                                + " (with Flyway, or by hand), or set syncguard.postgres.schema-management to"
                                + " initialize; if they are in another schema, put it in front of the names in"
                                + " syncguard.postgres.locks-table and fence-counters-table",
                        null);
            }
        });
    }

    @FunctionalInterface
    private interface Work {
        void on(Connection connection) throws SQLException;
    }

    private void run(String doing, Work work) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            PostgresServerCheck.requirePostgres(connection);
            PostgresServerCheck.requirePrimary(connection);
            // BEGIN is sent as text. It binds a pooler's session to this transaction; the driver would prepare its own
            // BEGIN.
            statement.execute(SETTINGS.ofTransaction(connection.getMetaData().getDatabaseMajorVersion()));
            try {
                requireSameCounters(connection);
                work.on(connection);
                statement.execute("COMMIT");
            } catch (SQLException | RuntimeException ex) {
                undo(statement, ex);
                throw ex;
            }
        } catch (SQLException ex) {
            throw PostgresErrors.translate(doing, ex);
        }
    }

    private static void undo(Statement statement, Exception failure) {
        try {
            statement.execute("ROLLBACK");
        } catch (SQLException ex) {
            failure.addSuppressed(ex);
        }
    }

    /**
     * The functions are named after the table of the locks. Functions for another table of counters would restart the
     * fences of all instances at one.
     */
    private void requireSameCounters(Connection connection) throws SQLException {
        String counters = countersInUse(connection);
        if (counters != null && !counters.equalsIgnoreCase(tables.fenceCounters())) {
            throw new LockBackendException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The table '" + tables.locks() + "' is in use with another table of fence counters than '"
                            + tables.fenceCounters() + "', whose fences would be used a second time. Set"
                            + " syncguard.postgres.fence-counters-table to the name it had, or use another"
                            + " locks-table, too",
                    null);
        }
    }

    private @Nullable String countersInUse(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FENCE_COUNTERS)) {
            statement.setString(1, tables.locks() + "_fence_counters()");
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next()
                        ? FENCE_COUNTERS_BODY.matcher(rows.getString(1)).replaceFirst("$1")
                        : null;
            }
        }
    }

    private boolean isUpToDate(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(IS_COMPLETE)) {
            statement.setString(1, tables.locks());
            statement.setString(2, tables.fenceCounters());
            statement.setString(3, tables.shared());
            statement.setString(4, tables.waiters());
            statement.setString(5, tables.locks() + "_version()");
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next() || !rows.getBoolean(1)) {
                    return false;
                }
            }
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(VERSION_QUERY))) {
            return rows.next() && rows.getInt(1) >= VERSION;
        }
    }

    private void runScript(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(PATIENCE.toMillis()));
            statement.execute("SELECT pg_advisory_xact_lock(" + ADVISORY_LOCK + ")");
            // Checked again: another instance, perhaps of a newer version, may have run the script meanwhile.
            if (!isUpToDate(connection)) {
                statement.execute(tables.fill(script()));
            }
        }
    }

    private static String script() {
        try (InputStream script = PostgresSchema.class.getClassLoader().getResourceAsStream(SCRIPT)) {
            if (script == null) {
                throw new IOException(SCRIPT + " is not on the class path: the jar of SyncGuard is incomplete");
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
