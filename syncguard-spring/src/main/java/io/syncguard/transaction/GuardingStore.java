package io.syncguard.transaction;

import io.syncguard.OneLine;
import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import org.jspecify.annotations.Nullable;

/**
 * The store of an engine, as a guard of commits.
 *
 * @param name for messages
 * @param pins pins its leases; {@code null} if it cannot
 */
record GuardingStore(String name, @Nullable LeasePins pins) {

    /** Why a transaction on this connection cannot be guarded; {@code null} if it can. */
    @Nullable
    String whyNot(Connection connection) throws SQLException {
        return pins == null ? "the lock is in " + name : orLack(() -> pins.whyNot(connection));
    }

    /** A question for the reason why a transaction is not guarded. */
    @FunctionalInterface
    interface Question {
        @Nullable
        String ask() throws SQLException;
    }

    /**
     * Returns the answer. A feature of JDBC that the connection lacks is a reason, too: the application may work without
     * it.
     */
    static @Nullable String orLack(Question question) throws SQLException {
        try {
            return question.ask();
        } catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError ex) {
            return "its connection lacks a feature of JDBC: " + OneLine.of(ex.toString());
        }
    }

    /**
     * Why a transaction without a connection cannot be guarded.
     *
     * @param manager that of the transaction; {@code null} if it is not known
     */
    String whyNotWithoutConnection(@Nullable Object manager) {
        return pins == null
                ? "the lock is in " + name
                : "its transaction manager"
                        + (manager == null ? "" : ", a " + manager.getClass().getSimpleName() + ",")
                        + " binds no JDBC connection to the thread";
    }
}
