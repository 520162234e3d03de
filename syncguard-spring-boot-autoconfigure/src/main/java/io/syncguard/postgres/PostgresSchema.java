package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.FenceSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;

/**
 * Provides the tables and functions: runs the script, or checks that it was run.
 */
public final class PostgresSchema {

    /** Where the script is on the class path: the location that Flyway is given. */
    public static final String LOCATION = "db/syncguard/postgresql";

    /** The script, which is a repeatable migration of Flyway. */
    private static final String SCRIPT = LOCATION + "/R__syncguard_schema.sql";

    /** "SyncGuar" in ASCII: instances that start together run the script one after the other. */
    private static final long ADVISORY_LOCK = 0x53796e6347756172L;

    /** The limits of a lock operation are too short for a start-up of many instances. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final PostgresSessionSettings SETTINGS = new PostgresSessionSettings(PATIENCE);

    private final DataSource dataSource;
    private final PostgresTables tables;
    private final FenceSource fences;

    /** With fences from counters. */
    public PostgresSchema(DataSource dataSource, PostgresTables tables) {
        this(dataSource, tables, FenceSource.COUNTER);
    }

    public PostgresSchema(DataSource dataSource, PostgresTables tables, FenceSource fences) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.fences = fences;
    }

    /** The placeholders of the script, without the <code>${}</code>. */
    public static Map<String, String> placeholders(PostgresTables tables, FenceSource fences) {
        Map<String, String> placeholders = new HashMap<>(tables.placeholders());
        placeholders.put("syncguard_fence_source", nameOf(fences));
        return placeholders;
    }

    /**
     * Runs the script unless the schema is up to date, so that a user without the right to create tables can start an
     * application on a schema that is there.
     *
     * @throws LockBackendException when the server refuses it
     */
    public void initialize() {
        run("setting up the tables of SyncGuard", (connection, installed) -> {
            if (!isUpToDate(installed)) {
                runScript(connection, installed);
            }
        });
    }

    /**
     * Checks that the schema is there and up to date.
     *
     * @throws LockBackendException with {@link LockErrorCode#SCHEMA_MISSING} when it is not
     */
    public void check() {
        run("looking for the tables of SyncGuard", (connection, installed) -> {
            if (!installed.isComplete()) {
                throw new LockBackendException(
                        LockErrorCode.SCHEMA_MISSING,
                        "The tables '" + tables.locks() + "' and '" + tables.fenceCounters()
                                + "' or their functions are missing or of an older version. Run " + SCRIPT
                                + " (with Flyway, or by hand), or set syncguard.postgres.schema-management to"
                                + " initialize; if they are in another schema, put it in front of the names in"
                                + " syncguard.postgres.locks-table and fence-counters-table",
                        null);
            }
            if (!isUpToDate(installed)) {
                throw invalid("syncguard.fences is " + nameOf(fences) + ", but the functions of the table '"
                        + tables.locks() + "' draw fences from another source. Run " + SCRIPT
                        + " again, with the placeholder syncguard_fence_source=" + nameOf(fences));
            }
        });
    }

    @FunctionalInterface
    private interface Work {
        void on(Connection connection, InstalledSchema installed) throws SQLException;
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
                InstalledSchema installed = new InstalledSchema(connection, tables);
                requireSameCounters(installed);
                requireNoReturnToCounters(installed);
                work.on(connection, installed);
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
    private void requireSameCounters(InstalledSchema installed) throws SQLException {
        String counters = installed.fenceCounters();
        if (counters != null && !counters.equalsIgnoreCase(tables.fenceCounters())) {
            throw invalid("The table '" + tables.locks() + "' is in use with another table of fence counters than '"
                    + tables.fenceCounters() + "', whose fences would be used a second time. Set"
                    + " syncguard.postgres.fence-counters-table to the name it had, or use another"
                    + " locks-table, too");
        }
    }

    /** Counters that were forgotten while fences came from the clock would begin at 1. */
    private void requireNoReturnToCounters(InstalledSchema installed) throws SQLException {
        if (fences == FenceSource.COUNTER && nameOf(FenceSource.CLOCK).equals(installed.fenceSource())) {
            throw invalid("syncguard.fences is counter, but the fences of the table '" + tables.locks()
                    + "' come from the clock, and their source cannot change back: counters that were forgotten would"
                    + " begin at 1 again. Set syncguard.fences=clock, or use another locks-table and another"
                    + " fence-counters-table");
        }
    }

    private boolean isUpToDate(InstalledSchema installed) throws SQLException {
        return installed.isComplete() && nameOf(fences).equals(installed.fenceSource());
    }

    private void runScript(Connection connection, InstalledSchema installed) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(PATIENCE.toMillis()));
            statement.execute("SELECT pg_advisory_xact_lock(" + ADVISORY_LOCK + ")");
            // Checked again: another instance, perhaps of a newer version, may have run the script meanwhile.
            if (!isUpToDate(installed)) {
                statement.execute(PostgresTables.fill(script(), placeholders(tables, fences)));
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

    private static String nameOf(FenceSource fences) {
        return fences.name().toLowerCase(Locale.ROOT);
    }

    private static LockBackendException invalid(String message) {
        return new LockBackendException(LockErrorCode.INVALID_ARGUMENT, message, null);
    }
}
