package io.syncguard.postgres;

import io.syncguard.concurrent.Chain;
import io.syncguard.jdbc.ConnectionRefusal;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The refusals of a pooler in front of the server. They share one SQLSTATE, so the text of PgBouncer's messages
 * distinguishes them.
 */
enum PoolerRefusal implements ConnectionRefusal {
    STATEMENT_POOLING(
            "statement pooling mode",
            "The pooler lends sessions for single statements, and a lock operation is a transaction",
            "Set pool_mode = transaction for this database in PgBouncer",
            "Give SyncGuard a DataSource that leads past the pooler, marked with @SyncGuardDataSource"),

    STARTUP_PARAMETER(
            "unsupported startup parameter",
            "The pooler refuses a start-up parameter of the connection",
            "Remove it from the URL of the DataSource",
            "Add it to ignore_startup_parameters of PgBouncer");

    private final String words;
    private final String problem;
    private final List<String> nextSteps;

    PoolerRefusal(String words, String problem, String... nextSteps) {
        this.words = words;
        this.problem = problem;
        this.nextSteps = List.of(nextSteps);
    }

    /** Returns the refusal that the error or one of its causes reports; {@code null} if there is none. */
    static @Nullable PoolerRefusal of(SQLException error) {
        return Arrays.stream(values())
                .filter(each -> each.isSaidBy(error))
                .findFirst()
                .orElse(null);
    }

    @Override
    public String problem() {
        return problem;
    }

    @Override
    public List<String> nextSteps() {
        return nextSteps;
    }

    private boolean isSaidBy(SQLException error) {
        return Chain.causes(error)
                .anyMatch(cause -> cause instanceof SQLException
                        && cause.getMessage() != null
                        && cause.getMessage().contains(words));
    }
}
