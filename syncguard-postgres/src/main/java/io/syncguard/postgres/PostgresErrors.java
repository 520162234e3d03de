package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Chain;
import io.syncguard.jdbc.ConnectionRefusal;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.springframework.util.StringUtils;

/**
 * Translates an {@link SQLException} by its SQLSTATE into the failure of a lock operation.
 *
 * <p>Spring's translation does not know some SQLSTATEs, such as 55P03.
 */
final class PostgresErrors {

    private PostgresErrors() {}

    /**
     * @param doing what was being done, such as {@code acquiring lock 'order:42'}; without a lock id
     */
    static LockBackendException translate(String doing, SQLException error) {
        LockErrorCode code = codeOf(error);
        ConnectionRefusal refusal = refusalOf(error);
        String next = refusal == null
                ? (isWithoutConnection(error)
                        ? "the DataSource gives no usable connection. See the cause"
                        : nextStep(code, error))
                : StringUtils.uncapitalize(refusal.problem()) + ". " + String.join("; or ", refusal.nextSteps());
        return new LockBackendException(code, "Failed while " + doing + ": " + next, withoutDetail(error));
    }

    /** Returns the refusal that the error or one of its causes reports; {@code null} if there is none. */
    static @Nullable ConnectionRefusal refusalOf(SQLException error) {
        ConnectionRefusal known = ConnectionRefusal.of(error);
        return known == null ? PoolerRefusal.of(error) : known;
    }

    /** Reports an answer that no version of the functions gives. */
    static LockBackendException malformed(String doing, Exception error) {
        return new LockBackendException(
                LockErrorCode.INTERNAL,
                "Failed while " + doing + ": the server's answer makes no sense. The functions of"
                        + " SyncGuard were replaced: run db/syncguard/postgresql/R__syncguard_schema.sql again",
                error);
    }

    /** Whether the server has reported that it rolled the statement back, so that it surely had no effect. */
    static boolean isRolledBack(SQLException error) {
        return MissingRightException.refusedBy(error) instanceof PSQLException reported
                && reported.getServerErrorMessage() != null
                && !SqlState.of(error).isEndOfConnection();
    }

    /** Whether the server has reported that it rolled the statement back, so that it had no effect. */
    static boolean isRolledBack(LockBackendException failure) {
        return failure.getCause() instanceof SQLException error && isRolledBack(error);
    }

    /** Whether the server rolled the statement back because it conflicted with others, so that it may succeed now. */
    static boolean isConflict(LockBackendException failure) {
        if (!(failure.getCause() instanceof SQLException error) || !isRolledBack(error)) {
            return false;
        }
        SqlState state = SqlState.of(error);
        return state == SqlState.SERIALIZATION_FAILURE || state == SqlState.DEADLOCK;
    }

    static LockErrorCode codeOf(SQLException error) {
        if (hasCause(InterruptedException.class, error)) {
            return LockErrorCode.ABORTED;
        }
        ConnectionRefusal refusal = refusalOf(error);
        if (refusal != null) {
            return refusal.code();
        }
        return switch (SqlState.of(error)) {
            case NONE -> codeWithoutState(error);
            case NO_CONNECTION -> isTimeout(error) ? LockErrorCode.NETWORK_TIMEOUT : LockErrorCode.SERVICE_UNAVAILABLE;
            default -> SqlState.of(error).code();
        };
    }

    private static LockErrorCode codeWithoutState(SQLException error) {
        if (error instanceof SQLTransientConnectionException) {
            return LockErrorCode.RATE_LIMITED;
        }
        return error instanceof SQLTimeoutException || isTimeout(error)
                ? LockErrorCode.NETWORK_TIMEOUT
                : LockErrorCode.INTERNAL;
    }

    /**
     * Whether connecting failed without an answer of a server. The error of a pool without a free connection has no
     * cause.
     */
    private static boolean isWithoutConnection(SQLException error) {
        return codeOf(error) == LockErrorCode.RATE_LIMITED
                && SqlState.of(error) == SqlState.NONE
                && error.getCause() != null;
    }

    private static boolean isTimeout(SQLException error) {
        return hasCause(SocketTimeoutException.class, error);
    }

    private static boolean hasCause(Class<? extends Exception> type, SQLException error) {
        return Chain.causes(error).anyMatch(type::isInstance);
    }

    /** Removes the detail and the context: they quote rows and parameters, among them the lock id. */
    static SQLException withoutDetail(SQLException error) {
        SQLException refused = MissingRightException.refusedBy(error);
        if (!(refused instanceof PSQLException original) || original.getServerErrorMessage() == null) {
            return refused;
        }
        SQLException copy =
                new PSQLException(PostgresMessage.withoutArguments(original.getServerErrorMessage()), false);
        copy.setStackTrace(original.getStackTrace());
        for (Throwable suppressed : original.getSuppressed()) {
            copy.addSuppressed(suppressed);
        }
        return copy;
    }

    private static String nextStep(LockErrorCode code, SQLException error) {
        String words = ": " + PostgresWords.of(withoutDetail(error)) + ". ";
        return switch (SqlState.of(error)) {
            case MISSING_RIGHT -> "the user lacks a right" + words + "Grant the rights that docs/security.md lists";
            case UNKNOWN_DATABASE ->
                "PostgreSQL does not have the database" + words + "Create it, or correct spring.datasource.url";
            case TOO_MANY_CONNECTIONS ->
                "PostgreSQL has no connection left" + words
                        + "Raise its max_connections, or set a smaller syncguard.postgres.pool-size";
            case CANNOT_CONNECT_NOW -> "PostgreSQL is starting or stopping" + words + "Try again later";
            case LOCK_TIMEOUT, CANCELED -> "the server did not answer in time" + words + "Look for long locks";
            case TERMINATED -> "PostgreSQL has ended the connection" + words + "Try again later";
            case SERIALIZATION_FAILURE, DEADLOCK ->
                "PostgreSQL has rolled the request back" + words + "Try again later";
            default -> nextStep(code, words, error);
        };
    }

    private static String nextStep(LockErrorCode code, String words, SQLException error) {
        return switch (code) {
            case SERVICE_UNAVAILABLE ->
                SqlState.of(error) == SqlState.NO_CONNECTION
                        ? "PostgreSQL cannot be reached" + words
                                + "Start it, correct spring.datasource.url, or try again later"
                        : "PostgreSQL does not serve writes now" + words + "Try again later";
            case AUTH_FAILED ->
                "PostgreSQL refuses the user" + words
                        + "Correct spring.datasource.username and spring.datasource.password, or allow the user to log"
                        + " in from this host";
            case SCHEMA_MISSING ->
                "the tables or functions of SyncGuard are missing or of another version, or the user lacks USAGE on"
                        + " their schema" + words
                        + "Start the application again, which creates them unless"
                        + " syncguard.postgres.schema-management is none, or run"
                        + " db/syncguard/postgresql/R__syncguard_schema.sql; see also"
                        + " syncguard.postgres.locks-table. If another version of"
                        + " the library has replaced them, replace this instance, too";
            case INVALID_ARGUMENT ->
                "the server refused a value. Look for constraints and triggers that were added to the tables of"
                        + " SyncGuard";
            case RATE_LIMITED ->
                "no connection was free in time, or the server is out of resources. See syncguard.postgres.pool-size";
            case NETWORK_TIMEOUT -> "the server did not answer in time. Look for long locks, and at the network";
            case ABORTED -> "the thread was interrupted";
            default -> "see the cause";
        };
    }
}
