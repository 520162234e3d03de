package io.syncguard.fencing;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Creates the table of the fences with the script of the database, or checks that it exists.
 */
public final class FenceSchema {

    /** The placeholder for the name of the table in the scripts, without the <code>${}</code>. */
    public static final String PLACEHOLDER = FenceTable.PLACEHOLDER;

    /** The file name of the script, a repeatable Flyway migration. */
    private static final String SCRIPT = "/R__syncguard_fences.sql";

    private static final String SELECT_NOTHING = "SELECT resource, fence FROM ${syncguard_fences} WHERE 1 IS NULL";

    private final DataSource dataSource;
    private final FenceTable table;

    /** @param table the name of the table */
    public FenceSchema(DataSource dataSource, String table) {
        this.dataSource = dataSource;
        this.table = new FenceTable(table);
    }

    /**
     * Returns the folder of the script of a database on the class path, as a location for Flyway.
     *
     * @param product the name of the database as JDBC reports it, such as {@code PostgreSQL}; case-insensitive
     */
    public static String location(String product) {
        return FenceDatabase.ofProduct(product).location();
    }

    /** Like {@link #initialize(Supplier)}, with the rights of the guard's own user. */
    public void initialize() {
        initialize(List::of);
    }

    /**
     * Runs the script unless the table exists, so that a user without the right to create tables can start an
     * application on an existing table.
     *
     * @param owners supplies other DataSources on the same database; called only if the script has to run. The script
     *     runs as the first of their users who may run it, else as the guard's own user
     * @throws LockSetupException when the server refuses it, or the table cannot be used
     */
    public void initialize(Supplier<List<DataSource>> owners) {
        String[] schema = new String[1];
        boolean[] missing = new boolean[1];
        run(dataSource, connection -> {
            requireOwner(connection);
            schema[0] = connection.getSchema();
            missing[0] = problem(connection) != null;
        });
        if (missing[0]) {
            runScript(owners.get(), schema[0]);
        }
        check();
    }

    /**
     * Checks that the table exists and refuses a smaller fence, in a transaction that is rolled back.
     *
     * @throws LockSetupException with {@link LockErrorCode#SCHEMA_MISSING} when the table does not exist
     */
    public void check() {
        run(dataSource, connection -> {
            requireOwner(connection);
            new FenceProbe(connection, table).check();
        });
    }

    private void requireOwner(Connection connection) throws SQLException {
        FenceDatabase database = FenceDatabase.of(connection);
        if (database == FenceDatabase.POSTGRESQL) {
            new FenceTableOwner(connection, table).check(script(database));
        }
    }

    @FunctionalInterface
    private interface Work {
        void on(Connection connection) throws SQLException;
    }

    /** Runs each statement in a transaction of its own, so that one that fails aborts no other. */
    private void run(DataSource source, Work work) {
        try (Connection connection = source.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(true);
            FenceDatabase database = FenceDatabase.of(connection);
            try {
                work.on(connection);
            } catch (SQLException ex) {
                throw refused(ex, script(database));
            } finally {
                // A pool closes a connection after some errors.
                if (!connection.isClosed()) {
                    connection.setAutoCommit(autoCommit);
                }
            }
        } catch (SQLException ex) {
            throw new LockSetupException(
                    FenceErrors.codeOf(ex),
                    "The table of the fences cannot be set up, because its database cannot be reached: "
                            + firstLine(ex),
                    List.of("Start the server", "Correct spring.datasource.*"),
                    ex);
        }
    }

    private LockSetupException refused(SQLException error, String script) {
        if (FenceErrors.isSyntax(error)) {
            return new LockSetupException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The database accepts no statement with '" + table.name() + "' as the table of the fences: "
                            + firstLine(error),
                    List.of("Choose a name in syncguard.fencing.table that is no reserved word of this database"),
                    error);
        }
        String statement = script.substring(script.indexOf("CREATE TABLE"))
                .lines()
                .filter(line -> !line.startsWith("--"))
                .collect(Collectors.joining(" "))
                .replaceAll("\\s+", " ")
                .replaceFirst(";$", "");
        return new LockSetupException(
                FenceErrors.codeOf(error),
                "The table of the fences, '" + table.name()
                        + "', does not exist, or the user may not create or use it: " + firstLine(error),
                List.of(
                        "Have an administrator grant the user SELECT, INSERT and UPDATE on it, and run: " + statement,
                        "Let the user create it, and set syncguard.fencing.schema-management=initialize",
                        "Put its schema in front of the name in syncguard.fencing.table"),
                error);
    }

    /** The first line of the message of the server. */
    private static String firstLine(SQLException error) {
        return String.valueOf(error.getMessage()).lines().findFirst().orElse("").replaceFirst("\\.$", "");
    }

    /** Returns why the table cannot be used; {@code null} if it can. */
    private @Nullable SQLException problem(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery(table.fill(SELECT_NOTHING)).close();
            return null;
        } catch (SQLException ex) {
            return ex;
        }
    }

    /**
     * @param schema the schema in which the guard looks for a table without a schema in its name; {@code null} if the
     *     database reports none
     */
    private void runScript(List<DataSource> owners, @Nullable String schema) {
        List<LockSetupException> refusals = new ArrayList<>();
        for (DataSource owner : owners) {
            try {
                run(owner, connection -> runScriptIn(schema, connection));
                return;
            } catch (LockSetupException ex) {
                refusals.add(ex);
            }
        }
        try {
            run(dataSource, this::runScript);
        } catch (LockSetupException ex) {
            refusals.forEach(ex::addSuppressed);
            throw ex;
        }
    }

    private void runScriptIn(@Nullable String schema, Connection connection) throws SQLException {
        String own = connection.getSchema();
        if (schema == null || schema.equals(own)) {
            runScript(connection);
            return;
        }
        connection.setSchema(schema);
        try {
            runScript(connection);
        } finally {
            connection.setSchema(own);
        }
    }

    /** Instances that start at the same time run the script concurrently. The statement may fail for all but one. */
    private void runScript(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(script(FenceDatabase.of(connection)));
        } catch (SQLException ex) {
            if (problem(connection) != null) {
                throw ex;
            }
        }
    }

    private String script(FenceDatabase database) {
        String path = database.location() + SCRIPT;
        try (InputStream script = FenceSchema.class.getClassLoader().getResourceAsStream(path)) {
            if (script == null) {
                throw new IOException(path + " is not on the class path: the jar of SyncGuard is incomplete");
            }
            return table.fill(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
