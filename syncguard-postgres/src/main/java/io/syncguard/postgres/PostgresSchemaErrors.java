package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.jdbc.ConnectionRefusal;
import java.io.File;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Explains to the person who starts an application why the tables and functions cannot be set up. */
final class PostgresSchemaErrors {

    private static final String WRITE_SCRIPT =
            "java -jar <application>.jar --syncguard.postgres.schema-script=syncguard.sql writes it with the names of"
                    + " your tables";

    private static final String IN_A_TEST =
            "In a test: add syncguard-spring-boot-starter-test and @AutoConfigureTestLocks";

    private PostgresSchemaErrors() {}

    /** @param written the file with the script for an administrator; {@code null} if none was requested */
    static LockSetupException missing(PostgresTables tables, @Nullable File written) {
        return new LockSetupException(
                LockErrorCode.SCHEMA_MISSING,
                "The tables '" + tables.locks() + "' and '" + tables.fenceCounters()
                        + "' or their functions are missing or of an older version",
                List.of(
                        "Have the library create them: syncguard.postgres.schema-management=initialize",
                        written == null
                                ? "Run " + PostgresScript.PATH + " with Flyway, or by hand: " + WRITE_SCRIPT
                                : runWritten(written),
                        "If they are in another schema, put it in front of the names in syncguard.postgres.locks-table"
                                + " and fence-counters-table",
                        "If the user lacks USAGE on their schema, grant it"),
                null);
    }

    /**
     * @param user of the connection; {@code null} if there is none
     * @param written the file with the script for an administrator; {@code null} if none was requested
     */
    static LockSetupException translate(SQLException error, @Nullable String user, @Nullable File written) {
        SqlState state = SqlState.of(error);
        LockErrorCode code =
                state == SqlState.SYNTAX_ERROR ? LockErrorCode.INVALID_ARGUMENT : PostgresErrors.codeOf(error);
        ConnectionRefusal refusal = PostgresErrors.refusalOf(error);
        return new LockSetupException(
                code,
                (refusal == null ? problem(code, state, user) : refusal.problem()) + ": " + PostgresWords.of(error),
                refusal == null ? nextSteps(code, state, user, written) : refusal.nextSteps(),
                PostgresErrors.withoutDetail(error));
    }

    /** @param holders the sessions that may hold the lock; none if none is known */
    static LockSetupException blocked(SQLException error, List<String> holders) {
        return new LockSetupException(
                LockErrorCode.NETWORK_TIMEOUT,
                "PostgreSQL does not answer in time: another transaction locks tables of SyncGuard, "
                        + (holders.isEmpty()
                                ? PostgresWords.of(error)
                                : "session " + String.join(", session ", holders)),
                List.of(
                        "Wait until it has ended, and start the application again",
                        "End it: SELECT pg_terminate_backend(<session>), or ROLLBACK PREPARED"),
                PostgresErrors.withoutDetail(error));
    }

    private static String problem(LockErrorCode code, SqlState state, @Nullable String user) {
        return switch (code) {
            case SERVICE_UNAVAILABLE ->
                state == SqlState.CANNOT_CONNECT_NOW
                        ? "PostgreSQL is starting or stopping"
                        : state == SqlState.NO_CONNECTION
                                ? "PostgreSQL cannot be reached"
                                : "PostgreSQL does not serve writes now";
            case NETWORK_TIMEOUT -> "PostgreSQL does not answer in time";
            case RATE_LIMITED ->
                state == SqlState.TOO_MANY_CONNECTIONS
                        ? "PostgreSQL has no connection left"
                        : state != SqlState.NONE
                                ? "PostgreSQL has no resources left"
                                : "The DataSource gives no usable connection";
            case AUTH_FAILED ->
                state == SqlState.MISSING_RIGHT
                        ? "The user '" + user + "' may not create or use the tables and functions of SyncGuard"
                        : "PostgreSQL refuses the user of the DataSource";
            case ABORTED -> "The start was interrupted";
            default ->
                switch (state) {
                    case UNKNOWN_DATABASE -> "PostgreSQL does not have the database";
                    case SYNTAX_ERROR ->
                        "PostgreSQL accepts no table with a name in syncguard.postgres.locks-table or"
                                + " fence-counters-table";
                    default -> "PostgreSQL cannot set up the tables and functions of SyncGuard";
                };
        };
    }

    private static String runWritten(File script) {
        return "The script is now in " + script.getAbsolutePath()
                + ": have an administrator run it and grant the rights"
                + " in its head, then start without syncguard.postgres.schema-script";
    }

    private static List<String> nextSteps(
            LockErrorCode code, SqlState state, @Nullable String user, @Nullable File written) {
        return switch (code) {
            case SERVICE_UNAVAILABLE ->
                state == SqlState.CANNOT_CONNECT_NOW
                        ? List.of("Start the application when PostgreSQL accepts connections")
                        : orInATest("Start the server", "Correct spring.datasource.url");
            case NETWORK_TIMEOUT ->
                orInATest(
                        "Look for a firewall, a wrong host in spring.datasource.url, and long locks in the database",
                        "Set a longer syncguard.postgres.network-timeout");
            case RATE_LIMITED ->
                state == SqlState.TOO_MANY_CONNECTIONS
                        ? List.of("Raise max_connections of the server", "Set a smaller syncguard.postgres.pool-size")
                        : state != SqlState.NONE
                                ? List.of("Give the server what it names: memory, disk or another limit")
                                : List.of(
                                        "Correct the DataSource, or mark another one with @SyncGuardDataSource",
                                        "If it is a pool of its own, raise its maximum, or set a smaller"
                                                + " syncguard.postgres.pool-size",
                                        IN_A_TEST);
            case AUTH_FAILED ->
                state == SqlState.MISSING_RIGHT
                        ? List.of(
                                written == null
                                        ? "Have an administrator run the script once, and grant the rights in its"
                                                + " head: "
                                                + WRITE_SCRIPT
                                        : runWritten(written),
                                "Grant CREATE on the schema of the tables to '" + user + "'")
                        : List.of(
                                "Correct spring.datasource.username and spring.datasource.password",
                                "Allow the user to log in from this host: ALTER ROLE, pg_hba.conf");
            case SCHEMA_MISSING ->
                List.of(
                        "Create the schema",
                        "Correct syncguard.postgres.locks-table and syncguard.postgres.fence-counters-table");
            case ABORTED -> List.of("Start the application again");
            default ->
                switch (state) {
                    case UNKNOWN_DATABASE -> List.of("Create the database", "Correct spring.datasource.url");
                    case SYNTAX_ERROR -> List.of("Choose a name that is no reserved word");
                    default -> List.of("Correct what PostgreSQL names, in the database or in spring.datasource.*");
                };
        };
    }

    /**
     * Adds the step for tests only if the classes of Spring Boot's tests are present, which they are not in production.
     */
    private static List<String> orInATest(String... nextSteps) {
        boolean mayBeTest = ClassUtils.isPresent("org.springframework.boot.test.context.SpringBootTest", null);
        return Stream.concat(Stream.of(nextSteps), mayBeTest ? Stream.of(IN_A_TEST) : Stream.empty())
                .toList();
    }
}
