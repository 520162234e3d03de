package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Explains why the tables and functions cannot be set up, to a person who starts an application.
 */
final class PostgresSchemaErrors {

    private static final String WRITE_SCRIPT =
            "java -jar <application>.jar --syncguard.postgres.schema-script=syncguard.sql writes it with the names of"
                    + " your tables";

    private static final String MISSING_PRIVILEGE = "42501";

    private static final String UNKNOWN_DATABASE = "3D000";

    private PostgresSchemaErrors() {}

    static LockSetupException missing(PostgresTables tables) {
        return new LockSetupException(
                LockErrorCode.SCHEMA_MISSING,
                "The tables '" + tables.locks() + "' and '" + tables.fenceCounters()
                        + "' or their functions are missing or of an older version",
                List.of(
                        "Have the library create them: syncguard.postgres.schema-management=initialize",
                        "Run " + PostgresScript.PATH + " with Flyway, or by hand: " + WRITE_SCRIPT,
                        "If they are in another schema, put it in front of the names in syncguard.postgres.locks-table"
                                + " and fence-counters-table"),
                null);
    }

    /** @param user of the connection; {@code null} if there is none */
    static LockSetupException translate(SQLException error, @Nullable String user) {
        LockErrorCode code = PostgresErrors.codeOf(error);
        ConnectionRefusal refusal = ConnectionRefusal.of(error);
        return new LockSetupException(
                code,
                (refusal == null ? problem(code, error, user) : refusal.problem()) + ": " + words(error),
                refusal == null ? nextSteps(code, error, user) : refusal.nextSteps(),
                PostgresErrors.withoutDetail(error));
    }

    private static String problem(LockErrorCode code, SQLException error, @Nullable String user) {
        return switch (code) {
            case SERVICE_UNAVAILABLE -> "PostgreSQL cannot be reached, or does not serve writes now";
            case NETWORK_TIMEOUT -> "PostgreSQL does not answer in time";
            case RATE_LIMITED ->
                isFromServer(error) ? "PostgreSQL has no resources left" : "The DataSource gives no usable connection";
            case AUTH_FAILED ->
                isMissingPrivilege(error)
                        ? "The user '" + user + "' may not create or use the tables and functions of SyncGuard"
                        : "PostgreSQL refuses the user of the DataSource";
            case ABORTED -> "The start was interrupted";
            default -> "PostgreSQL cannot set up the tables and functions of SyncGuard";
        };
    }

    private static List<String> nextSteps(LockErrorCode code, SQLException error, @Nullable String user) {
        return switch (code) {
            case SERVICE_UNAVAILABLE -> List.of("Start the server", "Correct spring.datasource.url");
            case NETWORK_TIMEOUT ->
                List.of(
                        "Look for a firewall, a wrong host in spring.datasource.url, and long locks in the database",
                        "Set a longer syncguard.postgres.network-timeout");
            case RATE_LIMITED ->
                isFromServer(error)
                        ? List.of("Raise max_connections of the server", "Set a smaller syncguard.postgres.pool-size")
                        : List.of(
                                "Correct the DataSource, or mark another one with @SyncGuardDataSource",
                                "If it is a pool of its own, raise its maximum, or set a smaller"
                                        + " syncguard.postgres.pool-size",
                                "In a test: add" + " syncguard-spring-boot-starter-test and @AutoConfigureTestLocks");
            case AUTH_FAILED ->
                isMissingPrivilege(error)
                        ? List.of(
                                "Have an administrator run the script once, and grant the rights in its head: "
                                        + WRITE_SCRIPT,
                                "Grant CREATE on the schema of the tables to '" + user + "'")
                        : List.of("Correct spring.datasource.username and spring.datasource.password");
            case SCHEMA_MISSING ->
                List.of(
                        "Create the schema",
                        "Correct syncguard.postgres.locks-table and syncguard.postgres.fence-counters-table");
            case ABORTED -> List.of("Start the application again");
            default ->
                UNKNOWN_DATABASE.equals(PostgresErrors.stateOf(error))
                        ? List.of("Create the database", "Correct spring.datasource.url")
                        : List.of("Correct what PostgreSQL names, in the database or in spring.datasource.*");
        };
    }

    private static boolean isMissingPrivilege(SQLException error) {
        return MISSING_PRIVILEGE.equals(PostgresErrors.stateOf(error));
    }

    private static boolean isFromServer(SQLException error) {
        return PostgresErrors.stateOf(error) != null;
    }

    /** The words of the server or of its driver, which a pool hides beneath its own. */
    private static String words(SQLException error) {
        SQLException last = error;
        Throwable cause = error;
        while (cause != null && !(cause instanceof IOException)) {
            last = cause instanceof SQLException sql ? sql : last;
            cause = cause.getCause();
        }
        if (cause == null && !isFromServer(error) && ConnectionRefusal.of(error) == null) {
            return firstLine(rootOf(error));
        }
        String io = cause == null ? "" : " (" + cause.getClass().getSimpleName() + ": " + cause.getMessage() + ")";
        return firstLine(last) + io;
    }

    private static Throwable rootOf(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    private static String firstLine(Throwable error) {
        return Objects.requireNonNullElse(error.getMessage(), error.toString())
                .lines()
                .findFirst()
                .orElse("")
                .replaceFirst("\\.$", "");
    }
}
