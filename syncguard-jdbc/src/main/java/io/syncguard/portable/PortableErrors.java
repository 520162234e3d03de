package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Chain;
import io.syncguard.jdbc.ConnectionRefusal;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Set;
import org.springframework.util.StringUtils;

/** Translates an {@link SQLException} of any database into the failure of a lock operation. */
final class PortableErrors {

    /** What an error means, by its SQLSTATE or by the number that the database gives it. */
    private enum Meaning {
        CONFLICT(
                LockErrorCode.SERVICE_UNAVAILABLE,
                "the server has rolled the request back, because of others. Try again later",
                // Deadlock and lock timeout: of MySQL and MariaDB, and of H2.
                Set.of(1213, 1205, 40001, 50200, 90131),
                "40001",
                "40P01",
                "55P03"),
        MISSING_TABLE(
                LockErrorCode.SCHEMA_MISSING,
                "the tables of SyncGuard are missing or of another version. Start the application again, which creates"
                        + " them, or run the script of syncguard/schema",
                // A missing index, which a query names.
                Set.of(1176),
                "42S02",
                "42S22",
                "42S04",
                "42P01",
                "42703",
                "3F000"),
        REFUSED_USER(
                LockErrorCode.AUTH_FAILED,
                "the server refuses the user. Correct its name and password, or grant it the rights that the"
                        + " documentation lists",
                Set.of(1044, 1045, 1142, 1143, 90040, 90096),
                "28",
                "42501"),
        READ_ONLY(
                LockErrorCode.SERVICE_UNAVAILABLE,
                "the server does not serve writes now. Lead the DataSource to the primary, or try again later",
                Set.of(1290, 1792, 1836),
                "25006"),
        NO_RESOURCES(
                LockErrorCode.RATE_LIMITED,
                "the server has no connection or no resources left",
                // MySQL and MariaDB lack connections, then disks, memory, threads, row locks and undo logs.
                Set.of(1040, 1203, 1226, 1021, 1114, 1037, 1038, 1041, 1135, 1206, 1637),
                "53"),
        LATE(LockErrorCode.NETWORK_TIMEOUT, "the server did not answer in time", Set.of(1317, 1969, 3024), "57014"),
        UNREACHABLE(
                LockErrorCode.SERVICE_UNAVAILABLE,
                "the server cannot be reached. Start it, correct spring.datasource.url, or try again later",
                // MySQL and MariaDB shut down, or end the session; H2's connection is closed, cut off or broken, or its
                // database is closed.
                Set.of(1053, 1077, 1927, 90007, 90028, 90031, 90067, 90098, 90121),
                "08",
                "25P03",
                "57P"),
        REFUSED_VALUE(
                LockErrorCode.INVALID_ARGUMENT,
                "the server refused a value. Look for constraints and triggers that were added to the tables of"
                        + " SyncGuard",
                Set.of(),
                "22",
                "23");

        private final LockErrorCode code;
        private final String next;
        private final Set<Integer> numbers;
        private final List<String> states;

        Meaning(LockErrorCode code, String next, Set<Integer> numbers, String... states) {
            this.code = code;
            this.next = next;
            this.numbers = numbers;
            this.states = List.of(states);
        }

        private boolean isOf(SQLException error) {
            String state = error.getSQLState();
            return numbers.contains(error.getErrorCode())
                    || state != null && states.stream().anyMatch(state::startsWith);
        }
    }

    private PortableErrors() {}

    /** @param doing what was being done, such as {@code acquiring lock 'order:42'}; without a lock id */
    static LockBackendException translate(String doing, SQLException error) {
        ConnectionRefusal refusal = ConnectionRefusal.of(error);
        if (has(InterruptedException.class, error)) {
            return failure(LockErrorCode.ABORTED, doing, "the thread was interrupted", error);
        }
        if (refusal != null) {
            return failure(
                    refusal.code(),
                    doing,
                    StringUtils.uncapitalize(refusal.problem()) + ". " + String.join("; or ", refusal.nextSteps()),
                    error);
        }
        if (has(SocketTimeoutException.class, error) || error instanceof SQLTimeoutException) {
            return failure(LockErrorCode.NETWORK_TIMEOUT, doing, Meaning.LATE.next, error);
        }
        for (Meaning each : Meaning.values()) {
            if (Chain.causes(error).anyMatch(cause -> cause instanceof SQLException sql && each.isOf(sql))) {
                return failure(each.code, doing, each.next + wordsOf(each, error), withoutRow(each, error));
            }
        }
        return error instanceof SQLTransientConnectionException
                ? failure(LockErrorCode.RATE_LIMITED, doing, "no connection was free in time", error)
                : failure(LockErrorCode.INTERNAL, doing, "see the cause", error);
    }

    /** Whether the server rolled the request back because of others, so that it may succeed now. */
    static boolean isConflict(LockBackendException failure) {
        return failure.getCause() instanceof SQLException error
                && !has(SocketTimeoutException.class, error)
                && Meaning.CONFLICT.isOf(error);
    }

    static boolean isMissingTable(SQLException error) {
        return Meaning.MISSING_TABLE.isOf(error);
    }

    /** The first line of the message of the driver, behind that of a pool. */
    static String wordsOf(SQLException error) {
        Throwable first = Chain.causes(error)
                .filter(SQLException.class::isInstance)
                .reduce((pool, driver) -> driver)
                .orElse(error);
        return String.valueOf(first.getMessage()).lines().findFirst().orElse("").replaceFirst("; SQL statement:$", "");
    }

    private static LockBackendException failure(LockErrorCode code, String doing, String next, SQLException cause) {
        return new LockBackendException(code, "Failed while " + doing + ": " + next, cause);
    }

    private static String wordsOf(Meaning meaning, SQLException error) {
        return meaning == Meaning.REFUSED_VALUE || error.getMessage() == null ? "" : ": " + error.getMessage();
    }

    /** Such an error quotes the row, with its lock id. */
    private static SQLException withoutRow(Meaning meaning, SQLException error) {
        return meaning == Meaning.REFUSED_VALUE
                ? new SQLException("The server refused a value", error.getSQLState(), error.getErrorCode())
                : error;
    }

    private static boolean has(Class<? extends Exception> type, SQLException error) {
        return Chain.causes(error).anyMatch(type::isInstance);
    }
}
