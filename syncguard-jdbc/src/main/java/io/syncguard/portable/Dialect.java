package io.syncguard.portable;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.jdbc.JdbcDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import javax.sql.CommonDataSource;
import org.jspecify.annotations.Nullable;

/**
 * What a database has of its own, beside what its {@linkplain JdbcDatabase connections} need. An application may have
 * one for another database, as a bean. Each locks rows with {@code FOR UPDATE SKIP LOCKED}.
 */
public interface Dialect extends JdbcDatabase {

    /** Whether it is the dialect of this product, as JDBC names it. */
    boolean isOf(String product);

    /**
     * The folder of its script on the class path, in {@code syncguard/schema}. The script has no semicolon but at the
     * ends of its statements, and changes nothing where the tables are.
     */
    String scripts();

    /**
     * An expression for the milliseconds since 1970 on the server's clock, whatever the time zone of the session. It is
     * read once per transaction, after the rows are locked.
     */
    String clock();

    /** The statements that set up a session, once for each connection: at read committed, with a limit for locks. */
    List<String> sessionSettings(long timeoutMillis);

    /**
     * The statement that makes the rows of keys where they are missing, and waits for nobody who has a key.
     *
     * @param table the table
     * @param keys how many; each is one parameter
     */
    String insertKeys(String table, int keys);

    /** The end of a query that answers as many rows as its last parameter says. */
    default String limit() {
        return "LIMIT ?";
    }

    /**
     * How a query of leases pins them, if the database has row locks that block deletions and not heartbeats: its index
     * hint and its locking clause. {@code null} if it has none.
     */
    default @Nullable Pinning pinning() {
        return null;
    }

    /**
     * @param hint leads locking queries of leases by lock id to the rows or entries that a pin locks
     * @param database a query for what no other database has at this time
     */
    record Pinning(String hint, String clause, String database) {}

    /** Few drivers show all properties of their {@code DataSource}. */
    @Override
    default @Nullable Login loginOf(CommonDataSource source) {
        return null;
    }

    @Override
    default @Nullable Connection ofDriver(Connection connection) throws SQLException {
        Connection layer = connection;
        while (!isOfDriver(layer.getClass())) {
            Connection beneath;
            try {
                beneath = layer.isWrapperFor(Connection.class) ? layer.unwrap(Connection.class) : null;
            } catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError ex) {
                // It does what locks need, and shows nothing beneath it.
                return layer;
            }
            if (beneath == null || beneath == layer) {
                return null;
            }
            layer = beneath;
        }
        return layer;
    }

    /**
     * Checks a server at the start, and logs what it may lose.
     *
     * @throws LockSetupException if it cannot keep locks
     */
    void check(Connection connection) throws SQLException;

    /** The failure of {@link #check} on a server that takes no writes. */
    static LockSetupException replica() {
        return new LockSetupException(
                LockErrorCode.SERVICE_UNAVAILABLE,
                "The DataSource leads to a replica, which does not serve writes: SyncGuard cannot store locks there",
                List.of(
                        "Lead it to the primary server: correct spring.datasource.url",
                        "Mark a DataSource that leads there with @SyncGuardDataSource"),
                null);
    }
}
