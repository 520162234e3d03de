package io.syncguard.transaction;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.OneLine;
import io.syncguard.spi.LeasePins;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The store of an engine, as a guard of commits.
 *
 * @param name for messages
 * @param pins pins its leases; {@code null} if it cannot
 */
record GuardingStore(String name, @Nullable LeasePins pins) {

    private static final Set<String> FEATURES = Stream.of(
                    Connection.class, DatabaseMetaData.class, PreparedStatement.class, ResultSet.class)
            .flatMap(type -> Stream.of(type.getMethods()))
            .map(Method::getName)
            .collect(Collectors.toUnmodifiableSet());

    private static final Pattern RESOLVED = Pattern.compile("resolved method '[^']*?(\\w+)\\(");

    /** Why a transaction on this connection cannot be guarded; {@code null} if it can. */
    @Nullable
    String whyNot(Connection connection) throws SQLException {
        return pins == null ? noPins() : orLack(() -> pins.whyNot(connection));
    }

    /** A question for the reason why a transaction is not guarded. */
    @FunctionalInterface
    interface Question {
        @Nullable
        String ask() throws SQLException;
    }

    /**
     * Returns the answer. A feature of JDBC that the connection lacks is a reason, too: the application may work
     * without it.
     */
    static @Nullable String orLack(Question question) throws SQLException {
        try {
            return question.ask();
        } catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError ex) {
            return "its connection lacks " + featureOf(ex) + ": " + OneLine.of(ex.toString());
        }
    }

    /** The method that was called. Only the words of the JVM name one that no class has. */
    private static String featureOf(Throwable lack) {
        Matcher resolved = RESOLVED.matcher(String.valueOf(lack.getMessage()));
        return resolved.find()
                ? resolved.group(1)
                : Stream.of(lack.getStackTrace())
                        .map(StackTraceElement::getMethodName)
                        .filter(FEATURES::contains)
                        .findFirst()
                        .orElse("a feature of JDBC");
    }

    /**
     * Why a transaction without a connection cannot be guarded.
     *
     * @param manager that of the transaction; {@code null} if it is not known
     */
    String whyNotWithoutConnection(@Nullable Object manager) {
        return pins == null
                ? noPins()
                : "its transaction manager"
                        + (manager == null ? "" : ", a " + manager.getClass().getSimpleName() + ",")
                        + " binds no JDBC connection to the thread";
    }

    private String noPins() {
        return "the store of the locks (" + name + ") guards no commits here";
    }

    /** @param reason why the transaction cannot be guarded */
    LockException refused(String key, String reason) {
        return new LockException(
                LockErrorCode.INVALID_ARGUMENT,
                "Lock '" + key + "' requires that transactions under it are guarded, and this one cannot be: " + reason
                        + (pins == null
                                ? ". Keep the locks in MariaDB, MySQL or PostgreSQL with its functions, or set"
                                        + " commitGuard to auto"
                                : ". Use the database of the locks, or set commitGuard to auto: other transactions"
                                        + " under the lock are guarded all the same"));
    }
}
