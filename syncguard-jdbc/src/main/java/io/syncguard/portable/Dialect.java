package io.syncguard.portable;

import io.syncguard.jdbc.JdbcDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.CommonDataSource;
import org.jspecify.annotations.Nullable;

/** What a database has of its own, beside what its {@linkplain JdbcDatabase connections} need. */
public interface Dialect extends JdbcDatabase {

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

    /** The statements that make the tables where they are missing. */
    List<String> tables(PortableTables tables);

    /** The end of a query that answers as many rows as its last parameter says. */
    default String limit() {
        return "LIMIT ?";
    }

    /** Few drivers show all properties of their {@code DataSource}. */
    @Override
    default @Nullable Login loginOf(CommonDataSource source) {
        return null;
    }

    @Override
    default @Nullable Connection ofDriver(Connection connection) throws SQLException {
        Connection layer = connection;
        while (!isOfDriver(layer.getClass())) {
            Connection beneath = layer.isWrapperFor(Connection.class) ? layer.unwrap(Connection.class) : null;
            if (beneath == null || beneath == layer) {
                return null;
            }
            layer = beneath;
        }
        return layer;
    }
}
