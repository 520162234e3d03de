package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.MessageText;
import io.syncguard.concurrent.Chain;
import java.sql.SQLException;
import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A limit at which a server ends a statement: for locks the one that the library sets, or one for all statements. */
enum ServerLimit {
    POSTGRES_LOCK("lock_timeout", true, 0, "55P03"),
    MYSQL_LOCK("innodb_lock_wait_timeout", true, 1205, ""),
    H2_LOCK("LOCK_TIMEOUT", true, 50200, ""),
    POSTGRES_STATEMENT("statement_timeout", false, 0, "57014"),
    MYSQL_STATEMENT("max_execution_time", false, 3024, ""),
    MARIADB_STATEMENT("max_statement_time", false, 1969, "");

    private final String setting;
    private final boolean ours;
    private final int number;
    private final String state;

    ServerLimit(String setting, boolean ours, int number, String state) {
        this.setting = setting;
        this.ours = ours;
        this.number = number;
        this.state = state;
    }

    /** Returns {@code null} if the error reports no limit. */
    static @Nullable ServerLimit of(SQLException error) {
        return Stream.of(values())
                .filter(limit -> Chain.causes(error)
                        .anyMatch(cause -> cause instanceof SQLException sql && limit.isReportedBy(sql)))
                .findFirst()
                .orElse(null);
    }

    private boolean isReportedBy(SQLException error) {
        return number == 0 ? state.equals(error.getSQLState()) : number == error.getErrorCode();
    }

    /**
     * Names the limit in the message.
     *
     * @param timeoutMillis maximum wait for an answer of the server
     * @param property sets twice that
     */
    LockBackendException addTo(LockBackendException failure, long timeoutMillis, String property) {
        Duration limit = this == MYSQL_LOCK
                ? Duration.ofSeconds(Math.max(1, timeoutMillis * 8 / 10 / 1000))
                : Duration.ofMillis(timeoutMillis * 8 / 10);
        LockBackendException named = new LockBackendException(
                failure.code(),
                failure.getMessage() + ". The limit is " + setting + ", which "
                        + (ours
                                ? "SyncGuard sets to " + MessageText.of(limit) + ": four fifths of half of " + property
                                : "the server, its user or spring.datasource.url sets, and SyncGuard does not"),
                failure.getCause());
        Stream.of(failure.getSuppressed()).forEach(named::addSuppressed);
        return named;
    }
}
