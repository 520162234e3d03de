package io.syncguard.postgres;

import io.syncguard.concurrent.Time;
import io.syncguard.postgres.batching.Batcher;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Which requests of callers share a statement with those of other threads. */
public enum PostgresBatching {

    /** Requests that arrive while other statements are under way, as in an application. */
    AUTO,

    /** No requests: races need a statement for each. */
    OFF,

    /** All requests, even a single one, as far as possible. */
    ALWAYS;

    public PostgresLockBackend backend(
            DataSource operations,
            DataSource engine,
            @Nullable DataSource wakeUps,
            PostgresSettings settings,
            Runnable onClose) {
        Batcher.Limits limits = this == OFF ? null : CallerRequests.limits(settings, this == ALWAYS);
        return new PostgresLockBackend(operations, engine, wakeUps, settings, onClose, Time.SYSTEM, limits);
    }
}
