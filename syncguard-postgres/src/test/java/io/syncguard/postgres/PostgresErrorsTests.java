package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** The code of each SQLSTATE, the exceptions of driver and pool without one, and the text of the message. */
class PostgresErrorsTests {

    @ParameterizedTest
    @ValueSource(strings = {"08000", "08001", "08003", "08004", "08006", "08007", "08P01"})
    void the_server_is_away(String state) {
        assertCode(
                state,
                LockErrorCode.SERVICE_UNAVAILABLE,
                "cannot be reached: as the server says it. Start it, correct spring.datasource.url, or try again later");
    }

    @ParameterizedTest
    @CsvSource({
        "40001, PostgreSQL has rolled the request back",
        "40P01, PostgreSQL has rolled the request back",
        "57P01, PostgreSQL has ended the connection",
        "57P02, PostgreSQL has ended the connection",
        "57P03, PostgreSQL is starting or stopping",
        "25006, PostgreSQL does not serve writes now"
    })
    void the_server_does_not_serve_the_request_now(String state, String problem) {
        assertCode(state, LockErrorCode.SERVICE_UNAVAILABLE, problem + ": as the server says it. Try again later");
    }

    @ParameterizedTest
    @ValueSource(strings = {"28000", "28P01"})
    void the_user_is_refused(String state) {
        assertCode(state, LockErrorCode.AUTH_FAILED, "spring.datasource.username and spring.datasource.password");
    }

    @Test
    @Timeout(10)
    void an_error_whose_causes_lead_in_a_circle_is_translated() {
        SQLException error = new SQLException("the pool gives up");
        error.initCause(new IllegalStateException("a wrapper", error));

        assertThat(PostgresErrors.translate("acquiring", error)).hasMessageContaining("acquiring");
        assertThat(PostgresWords.of(error)).isEqualTo("the pool gives up");
    }

    @Test
    void a_right_is_missing() {
        assertCode("42501", LockErrorCode.AUTH_FAILED, "lacks a right: as the server says it", "docs/security.md");
    }

    @ParameterizedTest
    @ValueSource(strings = {"22000", "22001", "22021", "22P02", "23000", "23502", "23505", "23514"})
    void a_value_is_refused(String state) {
        assertCode(state, LockErrorCode.INVALID_ARGUMENT, "constraints");
    }

    @ParameterizedTest
    @ValueSource(strings = {"42P01", "42883", "42703", "3F000"})
    void the_schema_is_missing(String state) {
        assertCode(
                state,
                LockErrorCode.SCHEMA_MISSING,
                "missing or of another version",
                "If another version of the library has replaced them, replace this instance, too",
                "Start the application again",
                "syncguard.postgres.schema-management",
                "db/syncguard/postgresql/R__syncguard_schema.sql",
                "syncguard.postgres.locks-table");
    }

    @ParameterizedTest
    @ValueSource(strings = {"53000", "53100", "53200", "53300", "53400"})
    void the_server_has_nothing_left(String state) {
        assertCode(state, LockErrorCode.RATE_LIMITED, "syncguard.postgres.pool-size");
    }

    @ParameterizedTest
    @ValueSource(strings = {"57014", "55P03", "25P03"})
    void the_server_takes_too_long(String state) {
        assertCode(state, LockErrorCode.NETWORK_TIMEOUT, "did not answer in time", "long locks");
    }

    @ParameterizedTest
    @ValueSource(strings = {"P0001", "ZZ001", "XX000", "58030", "42601", "57P04", "4", ""})
    void all_other_states_are_internal(String state) {
        assertCode(state, LockErrorCode.INTERNAL, "see the cause");
    }

    @Test
    void a_pool_without_a_free_connection_is_rate_limited() {
        assertThat(PostgresErrors.codeOf(new SQLTransientConnectionException("Connection is not available")))
                .isEqualTo(LockErrorCode.RATE_LIMITED);
    }

    static Stream<Throwable> failuresOfTheDataSource() {
        return Stream.of(
                new SQLException("token expired"),
                new SQLTransientConnectionException("DataSource returned null unexpectedly"),
                new IllegalStateException("token expired"),
                new AbstractMethodError("isValid"));
    }

    @ParameterizedTest
    @MethodSource("failuresOfTheDataSource")
    void a_data_source_that_fails_by_itself_gets_no_advice_about_the_server(Throwable cause) {
        SQLException error = new SQLTransientConnectionException("Not available", null, cause);

        assertThat(PostgresErrors.translate("acquiring lock 'order:42'", error))
                .hasMessageEndingWith("the DataSource gives no usable connection. See the cause");
        LockSetupException atTheStart = PostgresSchemaErrors.translate(error, null, null);
        assertThat(atTheStart.problem())
                .startsWith("The DataSource gives no usable connection: ")
                .contains(cause.getMessage());
        assertThat(atTheStart.nextSteps().toString()).doesNotContain("max_connections");
    }

    @ParameterizedTest
    @CsvSource({"28P01, AUTH_FAILED", "08001, SERVICE_UNAVAILABLE", "57P03, SERVICE_UNAVAILABLE", "53300, RATE_LIMITED"
    })
    void a_pool_that_cannot_connect_has_the_code_of_its_cause(String state, LockErrorCode code) {
        SQLException cause = new SQLException("FATAL", state);

        assertThat(PostgresErrors.codeOf(new SQLTransientConnectionException("Not available", null, cause)))
                .isEqualTo(code);
        assertThat(PostgresErrors.codeOf(new SQLTransientConnectionException(
                        "Not available", null, new IllegalStateException("Setup failed", cause))))
                .isEqualTo(code);
    }

    @Test
    void a_timeout_of_the_socket_or_the_driver_is_a_network_timeout() {
        assertThat(PostgresErrors.codeOf(new SQLException("I/O error", "08006", new SocketTimeoutException())))
                .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(PostgresErrors.codeOf(new SQLException(new SocketTimeoutException())))
                .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(PostgresErrors.codeOf(new SQLTimeoutException())).isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
    }

    @Test
    void an_interrupt_means_aborted_whatever_the_driver_says() {
        assertThat(PostgresErrors.codeOf(new SQLException("I/O error", "08006", new InterruptedException())))
                .isEqualTo(LockErrorCode.ABORTED);
    }

    @Test
    void an_error_without_a_state_is_internal() {
        assertThat(PostgresErrors.codeOf(new SQLException("No more"))).isEqualTo(LockErrorCode.INTERNAL);
    }

    @Test
    void what_the_server_quotes_of_the_row_is_not_shown_and_the_rest_is_kept() {
        PSQLException error = new PSQLException(
                new ServerErrorMessage(
                        "SERROR\0C23505\0Mduplicate key\0DKey (lock_id)=(secret) already exists.\0Wportal with parameters: secret\0"));
        error.addSuppressed(new SQLException("The statement could not be closed"));
        assertThat(error.getMessage()).as("the message of the driver").contains("secret");

        LockBackendException translated = PostgresErrors.translate("acquiring lock 'order:42'", error);

        assertThat(translated).hasStackTraceContaining("duplicate key");
        assertThat(translated.getCause().getMessage()).isEqualTo("ERROR: duplicate key");
        assertThat(translated.getCause().getStackTrace()).isEqualTo(error.getStackTrace());
        assertThat(translated.getCause().getSuppressed()).isEqualTo(error.getSuppressed());
    }

    private static void assertCode(String state, LockErrorCode code, String... nextStep) {
        SQLException error = new SQLException("as the server says it", state);

        LockBackendException translated = PostgresErrors.translate("acquiring lock 'order:42'", error);

        assertThat(translated.code()).isEqualTo(code);
        assertThat(translated).hasCause(error).hasMessageContainingAll("acquiring lock 'order:42'");
        assertThat(translated).hasMessageContainingAll(nextStep);
    }
}
