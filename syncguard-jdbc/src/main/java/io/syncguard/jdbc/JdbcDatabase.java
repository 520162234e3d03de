package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.CommonDataSource;
import org.jspecify.annotations.Nullable;

/** What the connections of one kind of database need. */
public interface JdbcDatabase {

    /** Whether this is a class of the driver, which opens connections as it does. A subclass may differ. */
    boolean isOfDriver(Class<?> type);

    /** Whether the driver takes this URL. */
    boolean accepts(String url);

    /**
     * Reads a {@code DataSource} of the driver.
     *
     * @return {@code null} without an URL that has all its properties
     */
    @Nullable
    Login loginOf(CommonDataSource source);

    /**
     * With what a {@code DataSource} connects.
     *
     * @param url has all other properties
     */
    record Login(
            @Nullable String url,
            @Nullable String user,
            @Nullable String password) {}

    /**
     * Adds what only connections of the library have: their name, and limits for a server that disappears silently.
     *
     * @param timeout maximum wait for the server
     * @param applicationName the name of the application; may be empty
     */
    void complete(HikariConfig details, Duration timeout, String applicationName);

    /** Adds what only the connection that receives wake-ups has. */
    default void completeForWakeUps(HikariConfig details) {}

    /**
     * Returns the driver's own connection behind wrappers, which may record statements; {@code null} if another driver
     * opened it.
     */
    @Nullable
    Connection ofDriver(Connection connection) throws SQLException;

    /**
     * Identifies the store, in words for a message; the same after a restart and a failover.
     *
     * @param connection one of the driver
     */
    String storeOf(Connection connection) throws SQLException;

    /**
     * Reads what the application has set in the session.
     *
     * @param connection one of the driver
     */
    Session read(Connection connection) throws SQLException;

    /** A session as it was. */
    @FunctionalInterface
    interface Session {

        /** @param connection the one that it was read from */
        void restore(Connection connection) throws SQLException;
    }
}
