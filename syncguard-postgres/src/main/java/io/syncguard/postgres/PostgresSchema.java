package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.jdbc.NetworkTimeout;
import io.syncguard.spi.FenceSource;
import java.io.File;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Provides the tables and functions: runs the script, or checks that it was run.
 */
public final class PostgresSchema {

    /** Timeout for the start. The timeout of a lock operation is too short when many instances start together. */
    private static final Duration START_TIMEOUT = Duration.ofMinutes(1);

    private final DataSource dataSource;
    private final PostgresTables tables;
    private final PostgresScript script;

    /** The file with the script for an administrator; {@code null} if none was requested. */
    private final @Nullable File written;

    private final Duration timeout;

    /** Creates a schema whose fences come from counters. */
    public PostgresSchema(DataSource dataSource, PostgresTables tables) {
        this(dataSource, tables, FenceSource.COUNTER);
    }

    public PostgresSchema(DataSource dataSource, PostgresTables tables, FenceSource fences) {
        this(dataSource, new PostgresScript(tables, fences), null);
    }

    /** @param written the file with the script for an administrator; {@code null} if none was requested */
    public PostgresSchema(DataSource dataSource, PostgresScript script, @Nullable File written) {
        this(dataSource, script, written, START_TIMEOUT);
    }

    PostgresSchema(DataSource dataSource, PostgresScript script, @Nullable File written, Duration timeout) {
        this.dataSource = dataSource;
        this.tables = script.tables();
        this.script = script;
        this.written = written;
        this.timeout = timeout;
    }

    /** Calls {@link #initialize(Supplier)} without other owners: the script runs as the locks' own user. */
    public void initialize() {
        initialize(List::of);
    }

    /**
     * Runs the script unless the schema is up to date, so that a user without the right to create tables can start an
     * application on an existing schema.
     *
     * @param owners supplies other DataSources on the same database; called only if the script has to run. The script
     *     runs as their first user with the rights to do so, otherwise as the locks' own user
     * @throws LockSetupException if the server refuses the script
     */
    public void initialize(Supplier<List<DataSource>> owners) {
        Look look = run(dataSource, null, (connection, installed, path) -> {
            boolean upToDate = isUpToDate(installed);
            if (upToDate) {
                requireUsable(connection, installed);
            }
            return new Look(upToDate, path);
        });
        if (!look.upToDate()) {
            runScript(look.path() == null ? List.of() : owners.get(), look.path());
            check();
        }
    }

    /**
     * Checks that the schema is there and up to date, and that the user may use it.
     *
     * @throws LockSetupException with {@link LockErrorCode#SCHEMA_MISSING} if the schema is not complete, or with
     *     {@code AUTH_FAILED} if the user may not use it
     */
    public void check() {
        run(dataSource, null, (connection, installed, path) -> {
            if (!installed.isComplete()) {
                throw PostgresSchemaErrors.missing(tables, written);
            }
            if (!isUpToDate(installed)) {
                throw LockSetupException.invalid(
                        "syncguard.fences is " + script.fenceSource() + ", but the functions of the table '"
                                + tables.locks() + "' draw fences from another source",
                        "Run " + PostgresScript.PATH + " again, with the placeholder syncguard_fence_source="
                                + script.fenceSource());
            }
            requireUsable(connection, installed);
            return true;
        });
    }

    /** @param path the search path for the tables, existing and new; {@code null} if there is none */
    private record Look(boolean upToDate, @Nullable String path) {}

    @FunctionalInterface
    private interface Work<T> {
        T on(Connection connection, InstalledSchema installed, @Nullable String path) throws SQLException;
    }

    /** @param givenPath the search path; {@code null} for that of the connection's user */
    private <T> T run(DataSource source, @Nullable String givenPath, Work<T> work) {
        String user = null;
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            PostgresServerCheck.requirePostgres(connection);
            PostgresSessions.requireNoTransaction(connection, false);
            user = connection.getMetaData().getUserName();
            PostgresServerCheck.requirePrimary(connection);
            // BEGIN is sent as text. It binds a pooler's session to this transaction; the driver would prepare its own
            // BEGIN.
            PostgresSessionSettings settings = new PostgresSessionSettings(timeout);
            statement.execute(settings.ofTransaction(connection.getMetaData().getDatabaseMajorVersion(), null));
            try {
                PostgresRights.requireSchemas(connection, tables);
                String path = givenPath == null ? new PostgresSearchPath(tables).forScript(connection) : givenPath;
                if (path != null) {
                    statement.execute(settings.ofPath(path));
                }
                PostgresOwners.require(connection, script);
                InstalledSchema installed = InstalledSchema.in(connection, tables);
                requireNoNeighbour(installed);
                requireNoSharer(installed);
                requireSameCounters(installed);
                requireNoReturnToCounters(installed);
                T result = work.on(connection, installed, path);
                statement.execute("COMMIT");
                return result;
            } catch (Throwable ex) {
                undo(statement, ex);
                if (ex instanceof SQLException error && SqlState.of(error) == SqlState.LOCK_TIMEOUT) {
                    throw PostgresSchemaErrors.blocked(error, SchemaBlockers.of(connection, tables));
                }
                throw ex;
            }
        } catch (SQLException ex) {
            throw PostgresSchemaErrors.translate(ex, user, written);
        }
    }

    private static void undo(Statement statement, Throwable failure) {
        try {
            statement.execute("ROLLBACK");
        } catch (Throwable ex) {
            failure.addSuppressed(ex);
        }
    }

    /** The table of the locks of one would be a table of the other. */
    private void requireNoNeighbour(InstalledSchema installed) {
        String neighbour = installed.neighbour();
        if (neighbour != null) {
            throw LockSetupException.invalid(
                    "The table '" + tables.locks() + "' would share a table or functions with the locks of '"
                            + neighbour + "', which are in the same schema",
                    "Choose a name in syncguard.postgres.locks-table that differs in more than its last word",
                    "Choose another schema");
        }
    }

    /** Fences by the clock delete counters, which would begin at 1 again for the other locks. */
    private void requireNoSharer(InstalledSchema installed) {
        String sharer = script.fences() == FenceSource.CLOCK ? installed.sharer() : installed.clockSharer();
        if (sharer != null) {
            throw LockSetupException.invalid(
                    "The table '" + tables.fenceCounters() + "' has also the fences of the locks in '" + sharer
                            + "', and fences by the clock delete the counters of others",
                    "Choose another table in syncguard.postgres.fence-counters-table, and in locks-table if it is in"
                            + " use");
        }
    }

    /**
     * The functions are named after the table of the locks. Functions for another table of counters would restart the
     * fences of all instances at one.
     */
    private void requireSameCounters(InstalledSchema installed) {
        String counters = installed.fenceCounters();
        if (counters != null && !counters.equalsIgnoreCase(tables.fenceCounters())) {
            throw LockSetupException.invalid(
                    "The table '" + tables.locks() + "' is in use with another table of fence counters than '"
                            + tables.fenceCounters() + "', whose fences would be used a second time",
                    "Set syncguard.postgres.fence-counters-table=" + counters,
                    "Use another syncguard.postgres.locks-table, too");
        }
    }

    /** Counters that were deleted while fences came from the clock would begin at 1. */
    private void requireNoReturnToCounters(InstalledSchema installed) {
        if (script.fences() == FenceSource.COUNTER && "clock".equals(installed.fenceSource())) {
            throw LockSetupException.invalid(
                    "syncguard.fences is counter, but the fences of the table '" + tables.locks()
                            + "' come from the clock, and their source cannot change back: counters that were forgotten"
                            + " would begin at 1 again",
                    "Set syncguard.fences=clock",
                    "Use another syncguard.postgres.locks-table and fence-counters-table");
        }
    }

    private boolean isUpToDate(InstalledSchema installed) {
        return installed.isComplete() && script.fenceSource().equals(installed.fenceSource());
    }

    private void requireUsable(Connection connection, InstalledSchema installed) throws SQLException {
        PostgresRights.require(connection, script);
        PostgresPlainTables.require(connection, tables);
        PostgresIndexes.check(connection, tables);
        if (installed.runsBlocks()) {
            new PostgresRowProbe(connection, script).check();
        }
        StatementLogs.check(connection);
    }

    private void runScript(List<DataSource> owners, @Nullable String path) {
        LockSetupException refused = null;
        for (DataSource owner : owners) {
            try {
                runScript(owner, path);
                return;
            } catch (LockSetupException ex) {
                if (ex.code() != LockErrorCode.AUTH_FAILED) {
                    throw ex;
                }
                refused = refused == null ? ex : refused;
            }
        }
        try {
            runScript(dataSource, path);
        } catch (LockSetupException ex) {
            if (refused == null) {
                throw ex;
            }
            refused.addSuppressed(ex);
            throw refused;
        }
    }

    private void runScript(DataSource owner, @Nullable String path) {
        run(owner, path, (connection, installed, same) -> {
            int before = connection.getNetworkTimeout();
            // The script is one statement. It waits for locks, each for less than the timeout, and has work beside.
            Duration limit = timeout.multipliedBy(4);
            NetworkTimeout.set(connection, limit);
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET LOCAL statement_timeout = " + limit.toMillis() * 9 / 10);
                statement.execute(script.beginning());
                // Check again after the wait: another instance, perhaps of a newer version, may have run the script.
                boolean upToDate = isUpToDate(InstalledSchema.in(connection, tables));
                if (!upToDate) {
                    statement.execute(script.text());
                }
                return upToDate;
            } finally {
                connection.setNetworkTimeout(Runnable::run, before);
            }
        });
    }
}
