package io.syncguard.postgres;

import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The refusals of a pooler in front of the server. They share one SQLSTATE, so the text of PgBouncer's messages
 * distinguishes them.
 */
enum PoolerRefusal {
    STATEMENT_POOLING(
            "statement pooling mode",
            "the pooler lends sessions for single statements, and a lock operation is a transaction. Set pool_mode ="
                    + " transaction for this database in PgBouncer, or give SyncGuard a DataSource that leads past the"
                    + " pooler, marked with @SyncGuardDataSource"),

    STARTUP_PARAMETER(
            "unsupported startup parameter",
            "the pooler refuses a start-up parameter of the connection, which the cause names. Remove it from the URL"
                    + " of the DataSource, or add it to ignore_startup_parameters of PgBouncer");

    private final String words;
    private final String nextStep;

    PoolerRefusal(String words, String nextStep) {
        this.words = words;
        this.nextStep = nextStep;
    }

    /** The refusal that the error or a cause of it reports; null if there is none. */
    static @Nullable PoolerRefusal of(SQLException error) {
        return Arrays.stream(values())
                .filter(each -> each.isSaidBy(error))
                .findFirst()
                .orElse(null);
    }

    /** What the user has to do. */
    String nextStep() {
        return nextStep;
    }

    private boolean isSaidBy(SQLException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException
                    && cause.getMessage() != null
                    && cause.getMessage().contains(words)) {
                return true;
            }
        }
        return false;
    }
}
