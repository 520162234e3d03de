package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.jdbc.ConnectionRefusal;
import java.io.File;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Provides the tables: runs the script, or checks that it was run. */
public final class PortableSchema {

    private final DataSource dataSource;
    private final PortableScript script;

    /** The file with the script for an administrator; {@code null} if none was requested. */
    private final @Nullable File written;

    /** @param written the file with the script for an administrator; {@code null} if none was requested */
    public PortableSchema(DataSource dataSource, PortableScript script, @Nullable File written) {
        this.dataSource = dataSource;
        this.script = script;
        this.written = written;
    }

    /**
     * Runs the script unless the tables are there, so that a user without the right to create tables can start an
     * application on existing ones.
     *
     * @param owners supplies other DataSources on the same database; called only if the script has to run. It runs as
     *     their first user with the right to create tables, otherwise as the locks' own user
     * @throws LockSetupException if the server refuses the script, or the tables cannot be used
     */
    public void initialize(Supplier<List<DataSource>> owners) {
        if (run(dataSource, connection -> startCheck(connection).isMissing())) {
            runScript(owners.get());
        }
        check();
    }

    /**
     * Checks that the server and the tables can keep locks, and that the user may use them.
     *
     * @throws LockSetupException with {@link LockErrorCode#SCHEMA_MISSING} if a table is missing
     */
    public void check() {
        run(dataSource, connection -> {
            script.dialect().check(connection);
            StartCheck start = startCheck(connection);
            if (start.isMissing()) {
                throw new LockSetupException(
                        LockErrorCode.SCHEMA_MISSING,
                        "The tables " + script.tables() + " are missing or of another version",
                        List.of(
                                "Have the library create them: syncguard.jdbc.schema-management=initialize",
                                byAdministrator(),
                                "If they are in another schema, put it in front of syncguard.jdbc.table-prefix"),
                        null);
            }
            start.run();
            return true;
        });
    }

    private StartCheck startCheck(Connection connection) {
        return new StartCheck(connection, script.dialect(), script.tables());
    }

    private void runScript(List<DataSource> owners) {
        LockSetupException refused = null;
        for (DataSource owner : owners) {
            try {
                run(owner, this::runScript);
                return;
            } catch (LockSetupException ex) {
                refused = refused == null ? ex : refused;
            }
        }
        try {
            run(dataSource, this::runScript);
        } catch (LockSetupException ex) {
            if (refused != null) {
                ex.addSuppressed(refused);
            }
            throw ex;
        }
    }

    /** Instances that start together run it at the same time, and it may fail for all but one. */
    private boolean runScript(Connection connection) throws SQLException {
        script.dialect().check(connection);
        try (Statement statement = connection.createStatement()) {
            for (String each : script.statements()) {
                statement.execute(each);
            }
        } catch (SQLException ex) {
            if (startCheck(connection).isMissing()) {
                throw ex;
            }
        }
        return true;
    }

    @FunctionalInterface
    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T run(DataSource source, Work<T> work) {
        try (Connection connection = source.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(true);
            try {
                return work.on(connection);
            } finally {
                // A pool closes a connection after some errors.
                if (!connection.isClosed()) {
                    connection.setAutoCommit(autoCommit);
                }
            }
        } catch (SQLException ex) {
            throw explained(ex);
        }
    }

    private LockSetupException explained(SQLException error) {
        ConnectionRefusal refusal = ConnectionRefusal.of(error);
        LockBackendException failure = PortableErrors.translate("setting up the tables", error);
        return refusal != null
                ? new LockSetupException(refusal.code(), refusal.problem(), refusal.nextSteps(), error)
                : new LockSetupException(
                        failure.code(),
                        problem(failure.code()) + ": " + PortableErrors.wordsOf(error),
                        nextSteps(failure.code()),
                        error);
    }

    private String problem(LockErrorCode code) {
        return switch (code) {
            case SERVICE_UNAVAILABLE -> "The database of the locks cannot be reached, or serves no writes";
            case NETWORK_TIMEOUT -> "The database of the locks does not answer in time";
            case RATE_LIMITED -> "The DataSource gives no usable connection";
            case AUTH_FAILED ->
                "The database of the locks refuses the user, or the user may not create or use the tables "
                        + script.tables();
            case ABORTED -> "The start was interrupted";
            default -> "The database cannot set up the tables " + script.tables();
        };
    }

    private List<String> nextSteps(LockErrorCode code) {
        return switch (code) {
            case SERVICE_UNAVAILABLE ->
                List.of(
                        "Start the server",
                        "Correct spring.datasource.url",
                        "Lead the DataSource to the primary server");
            case NETWORK_TIMEOUT ->
                List.of(
                        "Look for a firewall, a wrong host in spring.datasource.url, and long locks in the database",
                        "Set a longer syncguard.jdbc.network-timeout");
            case RATE_LIMITED ->
                List.of(
                        "Correct the DataSource, or mark another one with @SyncGuardDataSource",
                        "If it is a pool of its own, raise its maximum, or set a smaller syncguard.jdbc.pool-size");
            case AUTH_FAILED -> List.of("Correct spring.datasource.username and password", byAdministrator());
            case ABORTED -> List.of("Start the application again");
            default -> List.of("Correct what the server names, in the database or in spring.datasource.*");
        };
    }

    private String byAdministrator() {
        return written == null
                ? "Have an administrator run " + script.path() + " and grant the rights in its head:"
                        + " java -jar <application>.jar --syncguard.jdbc.schema-script=syncguard.sql writes it with the"
                        + " names of your tables"
                : "The script is now in " + written.getAbsolutePath() + ": have an administrator run it and grant the"
                        + " rights in its head, then start without syncguard.jdbc.schema-script";
    }
}
