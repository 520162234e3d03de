package io.syncguard.fencing;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Provides the table of the fences: runs the script of the database, or checks that it was run.
 */
public final class FenceSchema {

    /** The placeholder for the name of the table in the scripts, without the <code>${}</code>. */
    public static final String PLACEHOLDER = "syncguard_fences";

    /** The file: a repeatable migration of Flyway. */
    private static final String SCRIPT = "/R__syncguard_fences.sql";

    private static final String LOOK = "SELECT resource, fence FROM ${syncguard_fences} WHERE 1 = 0";

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

    /**
     * Runs the script unless the table is there, so that a user without the right to create tables can start an
     * application on a table that is there.
     *
     * @throws LockBackendException when the server refuses it
     */
    public void initialize() {
        run("setting up the table of the fences", connection -> {
            if (problem(connection) != null) {
                runScript(connection);
            }
        });
    }

    /**
     * Checks that the table is there.
     *
     * @throws LockBackendException with {@link LockErrorCode#SCHEMA_MISSING} when it is not
     */
    public void check() {
        run("looking for the table of the fences", connection -> {
            SQLException problem = problem(connection);
            if (problem != null) {
                throw problem;
            }
        });
    }

    @FunctionalInterface
    private interface Work {
        void on(Connection connection) throws SQLException;
    }

    /** Each statement is a transaction of its own: one that fails aborts no other. */
    private void run(String doing, Work work) {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(true);
            try {
                work.on(connection);
            } finally {
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException ex) {
            throw FenceErrors.translate(doing, ex);
        }
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

    /** Instances that start together run it together; the statement of all but one may fail. */
    private void runScript(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(table.fill(script(FenceDatabase.of(connection))));
        } catch (SQLException ex) {
            if (problem(connection) != null) {
                throw ex;
            }
        }
    }

    private static String script(FenceDatabase database) {
        String path = database.location() + SCRIPT;
        try (InputStream script = FenceSchema.class.getClassLoader().getResourceAsStream(path)) {
            if (script == null) {
                throw new IOException(path + " is not on the class path: the jar of SyncGuard is incomplete");
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
