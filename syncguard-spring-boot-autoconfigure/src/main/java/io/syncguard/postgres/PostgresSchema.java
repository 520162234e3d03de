package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Provides the tables and functions: runs the script, or checks that it was run.
 */
public final class PostgresSchema {

    /** "SyncGuar" in ASCII: instances that start together run the script one after the other. */
    private static final long ADVISORY_LOCK = 0x53796e6347756172L;

    /** The limits of a lock operation are too short for a start-up of many instances. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final PostgresSessionSettings SETTINGS = new PostgresSessionSettings(PATIENCE);

    private final DataSource dataSource;
    private final PostgresTables tables;
    private final PostgresScript script;

    /** With fences from counters. */
    public PostgresSchema(DataSource dataSource, PostgresTables tables) {
        this(dataSource, tables, FenceSource.COUNTER);
    }

    public PostgresSchema(DataSource dataSource, PostgresTables tables, FenceSource fences) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.script = new PostgresScript(tables, fences);
    }

    /**
     * Runs the script unless the schema is up to date, so that a user without the right to create tables can start an
     * application on a schema that is there.
     *
     * @throws LockSetupException when the server refuses it, or the user may not use what is there
     */
    public void initialize() {
        run((connection, installed) -> {
            if (!isUpToDate(installed)) {
                runScript(connection, installed);
            }
        });
    }

    /**
     * Checks that the schema is there and up to date.
     *
     * @throws LockSetupException with {@link LockErrorCode#SCHEMA_MISSING} when it is not, or with {@code AUTH_FAILED}
     *     when the user may not use it
     */
    public void check() {
        run((connection, installed) -> {
            if (!installed.isComplete()) {
                throw PostgresSchemaErrors.missing(tables);
            }
            if (!isUpToDate(installed)) {
                throw LockSetupException.invalid(
                        "syncguard.fences is " + script.fenceSource() + ", but the functions of the table '"
                                + tables.locks() + "' draw fences from another source",
                        "Run " + PostgresScript.PATH + " again, with the placeholder syncguard_fence_source="
                                + script.fenceSource());
            }
        });
    }

    @FunctionalInterface
    private interface Work {
        void on(Connection connection, InstalledSchema installed) throws SQLException;
    }

    private void run(Work work) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            PostgresServerCheck.requirePostgres(connection);
            PostgresSessions.requireNoTransaction(connection, false);
            PostgresServerCheck.requirePrimary(connection);
            // BEGIN is sent as text. It binds a pooler's session to this transaction; the driver would prepare its own
            // BEGIN.
            statement.execute(SETTINGS.ofTransaction(connection.getMetaData().getDatabaseMajorVersion(), null));
            try {
                String path = new PostgresSearchPath(tables).forScript(connection);
                if (path != null) {
                    statement.execute(SETTINGS.ofPath(path));
                }
                InstalledSchema installed = new InstalledSchema(connection, tables);
                requireSameCounters(installed);
                requireNoReturnToCounters(installed);
                work.on(connection, installed);
                PostgresRights.require(connection, script);
                StatementLogs.check(connection);
                statement.execute("COMMIT");
            } catch (Throwable ex) {
                undo(statement, ex);
                throw ex;
            }
        } catch (SQLException ex) {
            throw PostgresSchemaErrors.translate(ex);
        }
    }

    private static void undo(Statement statement, Throwable failure) {
        try {
            statement.execute("ROLLBACK");
        } catch (Throwable ex) {
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
            throw LockSetupException.invalid(
                    "The table '" + tables.locks() + "' is in use with another table of fence counters than '"
                            + tables.fenceCounters() + "', whose fences would be used a second time",
                    "Set syncguard.postgres.fence-counters-table=" + counters,
                    "Use another syncguard.postgres.locks-table, too");
        }
    }

    /** Counters that were forgotten while fences came from the clock would begin at 1. */
    private void requireNoReturnToCounters(InstalledSchema installed) throws SQLException {
        if (script.fences() == FenceSource.COUNTER && "clock".equals(installed.fenceSource())) {
            throw LockSetupException.invalid(
                    "syncguard.fences is counter, but the fences of the table '" + tables.locks()
                            + "' come from the clock, and their source cannot change back: counters that were forgotten"
                            + " would begin at 1 again",
                    "Set syncguard.fences=clock",
                    "Use another syncguard.postgres.locks-table and fence-counters-table");
        }
    }

    private boolean isUpToDate(InstalledSchema installed) throws SQLException {
        return installed.isComplete() && script.fenceSource().equals(installed.fenceSource());
    }

    private void runScript(Connection connection, InstalledSchema installed) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(PATIENCE.toMillis()));
            statement.execute("SELECT pg_catalog.pg_advisory_xact_lock(" + ADVISORY_LOCK + ")");
            // Checked again: another instance, perhaps of a newer version, may have run the script meanwhile.
            if (!isUpToDate(installed)) {
                statement.execute(script.text());
            }
        }
    }
}
