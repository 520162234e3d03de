package io.syncguard.portable;

import io.syncguard.jdbc.JdbcDatabase;
import java.util.List;

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
}
