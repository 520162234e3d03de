package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Chain;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What PostgreSQL's <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">SQLSTATEs</a> mean to
 * locks. A state belongs to the first constant of which it has a beginning.
 */
enum SqlState {
    NO_CONNECTION(LockErrorCode.SERVICE_UNAVAILABLE, Concern.SESSION, "08"),

    /** A standby gives this answer to a transaction that begins as READ WRITE. */
    NOT_SUPPORTED(LockErrorCode.SERVICE_UNAVAILABLE, Concern.STATEMENT, "0A000"),

    REFUSED_VALUE(LockErrorCode.INVALID_ARGUMENT, Concern.STATEMENT, "22", "23"),

    /** The server is a standby: the next connection may find the primary behind the same address. */
    READ_ONLY(LockErrorCode.SERVICE_UNAVAILABLE, Concern.SESSION, "25006"),

    IDLE_TOO_LONG(LockErrorCode.NETWORK_TIMEOUT, Concern.SESSION, "25P03"),
    TRANSACTION_STATE(LockErrorCode.INTERNAL, Concern.SESSION, "25"),
    REFUSED_LOGIN(LockErrorCode.AUTH_FAILED, Concern.SESSION, "28"),
    UNKNOWN_DATABASE(LockErrorCode.INTERNAL, Concern.STATEMENT, "3D000"),

    /** At the start: the name of a table is a reserved word. The library makes no other mistake. */
    SYNTAX_ERROR(LockErrorCode.INTERNAL, Concern.STATEMENT, "42601"),

    /** A schema, table, function or column. */
    UNKNOWN_OBJECT(LockErrorCode.SCHEMA_MISSING, Concern.STATEMENT, "3F000", "42P01", "42883", "42703"),

    SERIALIZATION_FAILURE(LockErrorCode.SERVICE_UNAVAILABLE, Concern.SESSION, "40001"),
    DEADLOCK(LockErrorCode.SERVICE_UNAVAILABLE, Concern.SESSION, "40P01"),
    ROLLED_BACK(LockErrorCode.INTERNAL, Concern.SESSION, "40"),
    MISSING_RIGHT(LockErrorCode.AUTH_FAILED, Concern.STATEMENT, "42501"),
    TOO_MANY_CONNECTIONS(LockErrorCode.RATE_LIMITED, Concern.SESSION, "53300"),
    NO_RESOURCES(LockErrorCode.RATE_LIMITED, Concern.SESSION, "53"),
    LOCK_TIMEOUT(LockErrorCode.NETWORK_TIMEOUT, Concern.SERVER, "55P03"),
    OBJECT_STATE(LockErrorCode.INTERNAL, Concern.SERVER, "55"),
    CANCELED(LockErrorCode.NETWORK_TIMEOUT, Concern.SERVER, "57014"),
    TERMINATED(LockErrorCode.SERVICE_UNAVAILABLE, Concern.SESSION, "57P01", "57P02"),

    /** The server is starting, recovering or stopping. */
    CANNOT_CONNECT_NOW(LockErrorCode.SERVICE_UNAVAILABLE, Concern.SESSION, "57P03"),

    ENDED(LockErrorCode.INTERNAL, Concern.SESSION, "57P"),
    BROKEN_SERVER(LockErrorCode.INTERNAL, Concern.SERVER, "57", "58", "XX"),
    OTHER(LockErrorCode.INTERNAL, Concern.STATEMENT),

    /** Only the driver, a pool or the JDK reports the error. */
    NONE(LockErrorCode.INTERNAL, Concern.SESSION);

    /** What an error is about. */
    enum Concern {

        /** The connection, the state of its transaction, its user, conflicts, resources and its end. */
        SESSION,

        /** The server as a whole, or other transactions. */
        SERVER,

        /** What was sent. */
        STATEMENT
    }

    private final LockErrorCode code;
    private final Concern concern;
    private final List<String> beginnings;

    SqlState(LockErrorCode code, Concern concern, String... beginnings) {
        this.code = code;
        this.concern = concern;
        this.beginnings = List.of(beginnings);
    }

    /** Returns the state that the server gave; a pool that could get no connection hides it in the cause. */
    static SqlState of(SQLException error) {
        return Chain.causes(error)
                .map(cause -> cause instanceof SQLException sql ? sql.getSQLState() : null)
                .filter(Objects::nonNull)
                .findFirst()
                .map(SqlState::of)
                .orElse(NONE);
    }

    private static SqlState of(String state) {
        return Arrays.stream(values())
                .filter(each -> each.beginnings.stream().anyMatch(state::startsWith))
                .findFirst()
                .orElse(OTHER);
    }

    LockErrorCode code() {
        return code;
    }

    Concern concern() {
        return concern;
    }

    /** Whether the connection ended, so that the server cannot say whether it rolled the statement back. */
    boolean isEndOfConnection() {
        return switch (this) {
            case NO_CONNECTION, TERMINATED, CANNOT_CONNECT_NOW, ENDED -> true;
            default -> false;
        };
    }
}
