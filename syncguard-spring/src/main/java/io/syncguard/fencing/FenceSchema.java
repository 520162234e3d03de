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
 * Provides the table of the fences: runs the script of the database, or checks that it was run.
 */
public final class FenceSchema {

    /** The placeholder for the name of the table in the scripts, without the <code>${}</code>. */
    public static final String PLACEHOLDER = FenceTable.PLACEHOLDER;

    /** The file: a repeatable migration of Flyway. */
    private static final String SCRIPT = "/R__syncguard_fences.sql";

    private static final String LOOK = "SELECT resource, fence FROM ${syncguard_fences} WHERE 1 IS NULL";

    private final DataSource dataSource;
    private final FenceTable table;

    /** @param table the name of the table */
    public FenceSchema(DataSource dataSource, String table) {
        this.dataSource = dataSource;
        this.table = new FenceTable(table);
    }

    /**
     * Where the script of a database is on the class path: the location that Flyway is given.
     *
     * @param product its name as JDBC reports it, such as {@code PostgreSQL}; in any case
     */
    public static String location(String product) {
        return FenceDatabase.ofProduct(product).location();
    }

    /** As {@link #initialize(Supplier)}, with the rights of the guard's own user. */
    public void initialize() {
        initialize(List::of);
    }

    /**
     * Runs the script unless the table is there, so that a user without the right to create tables can start an
     * application on a table that is there.
     *
     * @param owners other DataSources on the same database, which are asked for only if the script has to run. It runs
     *     as the first of their users who may do that, else as the guard's own user
     * @throws LockSetupException when the server refuses it, or the table cannot be used
     */
    public void initialize(Supplier<List<DataSource>> owners) {
        String[] schema = new String[1];
        boolean[] missing = new boolean[1];
        run(dataSource, connection -> {
            schema[0] = connection.getSchema();
            missing[0] = problem(connection) != null;
        });
        if (missing[0]) {
            runScript(owners.get(), schema[0]);
        }
        check();
    }

    /**
     * Checks that the table is there and refuses a smaller fence, by a transaction that is rolled back.
     *
     * @throws LockSetupException with {@link LockErrorCode#SCHEMA_MISSING} when it is not there
     */
    public void check() {
        run(dataSource, connection -> new FenceProbe(connection, table).check());
    }

    @FunctionalInterface
    private interface Work {
        void on(Connection connection) throws SQLException;
    }

    /** Each statement is a transaction of its own: one that fails aborts no other. */
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
                    "The table of the fences cannot be set up, because its database cannot be reached: " + words(ex),
                    List.of("Start the server", "Correct spring.datasource.*"),
                    ex);
        }
    }

    private LockSetupException refused(SQLException error, String script) {
        if (FenceErrors.isSyntax(error)) {
            return new LockSetupException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The database understands no statement with '" + table.name() + "' as the table of the fences: "
                            + words(error),
                    List.of("Choose a name in syncguard.fencing.table that is no reserved word of this database"),
                    error);
        }
        String statement = script.lines()
                .filter(line -> !line.startsWith("--"))
                .collect(Collectors.joining(" "))
                .replaceAll("\\s+", " ")
                .replaceFirst(";$", "");
        return new LockSetupException(
                FenceErrors.codeOf(error),
                "The table of the fences, '" + table.name() + "', is not there, or the user may not create or use it: "
                        + words(error),
                List.of(
                        "Have an administrator grant the user SELECT, INSERT and UPDATE on it, and run: " + statement,
                        "Let the user create it, and set syncguard.fencing.schema-management=initialize",
                        "Put its schema in front of the name in syncguard.fencing.table"),
                error);
    }

    /** The first line of what the server says. */
    private static String words(SQLException error) {
        return String.valueOf(error.getMessage()).lines().findFirst().orElse("").replaceFirst("\\.$", "");
    }

    /** Why the table cannot be used, or {@code null}. */
    private @Nullable SQLException problem(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery(table.fill(LOOK)).close();
            return null;
        } catch (SQLException ex) {
            return ex;
        }
    }

    /** @param schema where the guard looks for a table without a schema in its name, if the database says so */
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

    /** Instances that start together run it together; the statement of all but one may fail. */
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
