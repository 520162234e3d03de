package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Chain;
import io.syncguard.spi.RequestNotSentException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.springframework.util.StringUtils;

/**
 * Translates an {@link SQLException} by its SQLSTATE into the failure of a lock operation.
 *
 * <p>Spring's translation does not know some SQLSTATEs, such as 55P03.
 */
final class PostgresErrors {

    /** The SQLSTATE {@code insufficient_privilege}. */
    static final String MISSING_RIGHT = "42501";

    static final String UNKNOWN_DATABASE = "3D000";

    static final String TOO_MANY_CONNECTIONS = "53300";

    /** The server is starting, recovering or stopping. */
    static final String CANNOT_CONNECT_NOW = "57P03";

    /** The SQLSTATEs {@code serialization_failure} and {@code deadlock_detected}. */
    private static final Set<String> CONFLICTS = Set.of("40001", "40P01");

    private PostgresErrors() {}

    /**
     * @param doing what was being done, such as {@code acquiring lock 'order:42'}; without a lock id
     */
    static LockBackendException translate(String doing, SQLException error) {
        LockErrorCode code = codeOf(error);
        ConnectionRefusal refusal = ConnectionRefusal.of(error);
        String next = refusal == null
                ? (isWithoutConnection(error)
                        ? "the DataSource gives no usable connection. See the cause"
                        : nextStep(code, error))
                : StringUtils.uncapitalize(refusal.problem()) + ". " + String.join("; or ", refusal.nextSteps());
        return new LockBackendException(code, "Failed while " + doing + ": " + next, withoutDetail(error));
    }

    /** Translates the error of a statement that was not sent, because there was no connection. */
    static RequestNotSentException notSent(String doing, SQLException error) {
        return new RequestNotSentException(translate(doing, error));
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
        String state = stateOf(error);
        return MissingRightException.refusedBy(error) instanceof PSQLException reported
                && reported.getServerErrorMessage() != null
                && state != null
                && !state.startsWith("08")
                && !state.startsWith("57P");
    }

    /** Whether the server rolled the statement back because it conflicted with others, so that it may succeed now. */
    static boolean isConflict(LockBackendException failure) {
        return failure.getCause() instanceof SQLException error
                && isRolledBack(error)
                && CONFLICTS.contains(String.valueOf(stateOf(error)));
    }

    /** Whether the server is a standby: the next connection may find the primary behind the same address. */
    static boolean isReadOnly(SQLException error) {
        return "25006".equals(stateOf(error));
    }

    /** Whether there is no connection to the server. */
    static boolean isUnreachable(SQLException error) {
        return String.valueOf(stateOf(error)).startsWith("08");
    }

    static LockErrorCode codeOf(SQLException error) {
        if (hasCause(InterruptedException.class, error)) {
            return LockErrorCode.ABORTED;
        }
        ConnectionRefusal refusal = ConnectionRefusal.of(error);
        if (refusal != null) {
            return refusal.code();
        }
        String state = stateOf(error);
        return state == null ? codeWithoutState(error) : codeOf(state, error);
    }

    private static LockErrorCode codeOf(String state, SQLException error) {
        return switch (state) {
            // A standby answers 0A000 to a transaction that begins as READ WRITE.
            case "40001", "40P01", "57P01", "57P02", CANNOT_CONNECT_NOW, "25006", "0A000" ->
                LockErrorCode.SERVICE_UNAVAILABLE;
            case MISSING_RIGHT -> LockErrorCode.AUTH_FAILED;
            case "42P01", "42883", "42703", "3F000" -> LockErrorCode.SCHEMA_MISSING;
            case "57014", "55P03", "25P03" -> LockErrorCode.NETWORK_TIMEOUT;
            default -> codeOfClass(state.length() < 2 ? state : state.substring(0, 2), error);
        };
    }

    private static LockErrorCode codeOfClass(String stateClass, SQLException error) {
        return switch (stateClass) {
            case "08" -> isTimeout(error) ? LockErrorCode.NETWORK_TIMEOUT : LockErrorCode.SERVICE_UNAVAILABLE;
            case "28" -> LockErrorCode.AUTH_FAILED;
            case "22", "23" -> LockErrorCode.INVALID_ARGUMENT;
            case "53" -> LockErrorCode.RATE_LIMITED;
            default -> LockErrorCode.INTERNAL;
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

    /** The server's SQLSTATE; a pool that could get no connection hides it in the cause. */
    static @Nullable String stateOf(SQLException error) {
        return Chain.causes(error)
                .map(cause -> cause instanceof SQLException sql ? sql.getSQLState() : null)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Whether connecting failed without an answer of a server. The error of a pool without a free connection has no
     * cause.
     */
    private static boolean isWithoutConnection(SQLException error) {
        return codeOf(error) == LockErrorCode.RATE_LIMITED && stateOf(error) == null && error.getCause() != null;
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
        return switch (String.valueOf(stateOf(error))) {
            case MISSING_RIGHT -> "the user lacks a right" + words + "Grant the rights that docs/security.md lists";
            case UNKNOWN_DATABASE ->
                "PostgreSQL does not have the database" + words + "Create it, or correct spring.datasource.url";
            case TOO_MANY_CONNECTIONS ->
                "PostgreSQL has no connection left" + words
                        + "Raise its max_connections, or set a smaller syncguard.postgres.pool-size";
            case CANNOT_CONNECT_NOW -> "PostgreSQL is starting or stopping" + words + "Try again later";
            case "57P01", "57P02" -> "PostgreSQL has ended the connection" + words + "Try again later";
            case "40001", "40P01" -> "PostgreSQL has rolled the request back" + words + "Try again later";
            default -> nextStep(code, words, error);
        };
    }

    private static String nextStep(LockErrorCode code, String words, SQLException error) {
        return switch (code) {
            case SERVICE_UNAVAILABLE ->
                isUnreachable(error)
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
                        + " db/syncguard/postgresql/R__syncguard_schema.sql; see also syncguard.postgres.locks-table. If another version of"
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
