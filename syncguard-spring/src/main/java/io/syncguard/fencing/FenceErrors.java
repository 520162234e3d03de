package io.syncguard.fencing;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Maps the {@link SQLException} of a check to an error code, by its SQLSTATE or, if that is too general, by the error
 * number of the database.
 */
final class FenceErrors {

    /** MariaDB, with {@code innodb_snapshot_isolation}: the row has changed since the transaction began to read. */
    private static final int MARIADB_CHANGED = 1020;

    /** MySQL and MariaDB: the wait for a row lock timed out. Their drivers report different SQLSTATEs. */
    private static final int MYSQL_LOCK_TIMEOUT = 1205;

    /** MySQL and MariaDB: the disk is full, and so the table is. */
    private static final int MYSQL_DISK_FULL = 1021;

    private static final int MYSQL_TABLE_FULL = 1114;

    /**
     * MySQL and MariaDB: no privilege for the database, the table or the column. Their SQLSTATE is that of a syntax
     * error.
     */
    private static final int MYSQL_NO_DATABASE_PRIVILEGE = 1044;

    private static final int MYSQL_NO_TABLE_PRIVILEGE = 1142;

    private static final int MYSQL_NO_COLUMN_PRIVILEGE = 1143;

    /** H2: the user lacks a right. */
    private static final int H2_NO_RIGHT = 90096;

    /** PostgreSQL: an earlier statement of the transaction failed, and the transaction was not rolled back. */
    private static final String FAILED_TRANSACTION = "25P02";

    /** 42601: PostgreSQL. 42000: H2, MySQL and MariaDB. 42001: H2, where it expects an identifier. */
    private static final Set<String> SYNTAX = Set.of("42601", "42000", "42001");

    private static final int MAX_CAUSES = 1_000;

    private FenceErrors() {}

    /** @param doing the operation, such as {@code checking fence 000000000000007 of resource 'order:42'} */
    static LockBackendException translate(String doing, SQLException error) {
        LockErrorCode code = codeOf(error);
        return new LockBackendException(code, "Failed while " + doing + ": " + nextStep(code), error);
    }

    /** Whether an earlier error of the application had ended the transaction or its connection before the statement. */
    static boolean failedBefore(Connection connection, SQLException error) {
        String state = withState(error).getSQLState();
        return FAILED_TRANSACTION.equals(state) || state == null && isClosed(connection);
    }

    private static boolean isClosed(Connection connection) {
        try {
            return connection.isClosed();
        } catch (SQLException ex) {
            return false;
        }
    }

    /**
     * Whether the statement has a syntax error. In a statement of this package, only the name of the table can cause
     * one.
     */
    static boolean isSyntax(SQLException error) {
        return SYNTAX.contains(String.valueOf(withState(error).getSQLState()))
                && codeOf(error) == LockErrorCode.INTERNAL;
    }

    static LockErrorCode codeOf(SQLException error) {
        SQLException reported = withState(error);
        String state = reported.getSQLState();
        LockErrorCode code = state == null ? null : codeOfState(state);
        if (code == null) {
            code = codeOfNumber(reported.getErrorCode());
        }
        return code == null ? codeOfType(error) : code;
    }

    private static @Nullable LockErrorCode codeOfState(String state) {
        return switch (state) {
            // 23505: another transaction inserts the same resource.
            case "23505", "25006", "57P01", "57P02", "57P03" -> LockErrorCode.SERVICE_UNAVAILABLE;
            case "42501" -> LockErrorCode.AUTH_FAILED;
            case "42P01", "42703", "3F000" -> LockErrorCode.SCHEMA_MISSING;
            case "57014", "55P03", "25P03", "HYT00" -> LockErrorCode.NETWORK_TIMEOUT;
            default -> codeOfClass(state);
        };
    }

    private static @Nullable LockErrorCode codeOfClass(String state) {
        // 42S01 to 42S22 are missing tables and columns of MySQL, MariaDB and H2.
        return switch (state.startsWith("42S") ? "42S" : state.substring(0, Math.min(2, state.length()))) {
            case "08", "40" -> LockErrorCode.SERVICE_UNAVAILABLE;
            case "28" -> LockErrorCode.AUTH_FAILED;
            case "22", "23" -> LockErrorCode.INVALID_ARGUMENT;
            case "42S" -> LockErrorCode.SCHEMA_MISSING;
            case "53" -> LockErrorCode.RATE_LIMITED;
            default -> null;
        };
    }

    private static @Nullable LockErrorCode codeOfNumber(int number) {
        return switch (number) {
            case MARIADB_CHANGED -> LockErrorCode.SERVICE_UNAVAILABLE;
            case MYSQL_LOCK_TIMEOUT -> LockErrorCode.NETWORK_TIMEOUT;
            case MYSQL_DISK_FULL, MYSQL_TABLE_FULL -> LockErrorCode.RATE_LIMITED;
            case MYSQL_NO_DATABASE_PRIVILEGE, MYSQL_NO_TABLE_PRIVILEGE, MYSQL_NO_COLUMN_PRIVILEGE, H2_NO_RIGHT ->
                LockErrorCode.AUTH_FAILED;
            default -> null;
        };
    }

    private static LockErrorCode codeOfType(SQLException error) {
        if (causes(error).anyMatch(InterruptedException.class::isInstance)) {
            return LockErrorCode.ABORTED;
        }
        if (error instanceof SQLTransientConnectionException) {
            return LockErrorCode.RATE_LIMITED;
        }
        return error instanceof SQLTimeoutException ? LockErrorCode.NETWORK_TIMEOUT : LockErrorCode.INTERNAL;
    }

    /** Returns the error and its causes, which may lead in a circle. */
    private static Stream<Throwable> causes(SQLException error) {
        return Stream.<Throwable>iterate(error, Objects::nonNull, Throwable::getCause)
                .limit(MAX_CAUSES);
    }

    /** Returns the server's error. A pool that gets no connection hides it in the cause. */
    private static SQLException withState(SQLException error) {
        return causes(error)
                .filter(cause -> cause instanceof SQLException sql && sql.getSQLState() != null)
                .map(SQLException.class::cast)
                .findFirst()
                .orElse(error);
    }

    private static String nextStep(LockErrorCode code) {
        return switch (code) {
            case SERVICE_UNAVAILABLE ->
                "another transaction was at work on the same resource, or the server does not serve writes now. Run"
                        + " the transaction again";
            case AUTH_FAILED ->
                "the server refused the user. Check its password, and its rights to select, insert and update in the"
                        + " table of the fences";
            case SCHEMA_MISSING ->
                "the table of the fences does not exist. Start the application again, which creates it unless"
                        + " syncguard.fencing.schema-management is none, or run"
                        + " the script of the database under syncguard/fences; see also syncguard.fencing.table";
            case INVALID_ARGUMENT ->
                "the server refused a value. Look for constraints and triggers that were added to the table of the"
                        + " fences";
            case RATE_LIMITED -> "no connection was free in time, or the server is out of resources";
            case NETWORK_TIMEOUT ->
                "the server did not answer in time. Look for a long transaction that has checked the same resource";
            case ABORTED -> "the thread was interrupted";
            default -> "see the cause";
        };
    }
}
