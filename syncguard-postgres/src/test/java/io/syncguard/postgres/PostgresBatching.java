package io.syncguard.postgres;

import io.syncguard.core.CallerBatching;
import io.syncguard.core.StoreCalls;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens a store whose requests of callers share a list as {@link CallerBatching} says. */
public enum PostgresBatching {
    AUTO,
    OFF,
    ALWAYS;

    public StoreCalls backend(
            DataSource operations,
            DataSource engine,
            @Nullable DataSource wakeUps,
            PostgresSettings settings,
            Runnable onClose) {
        return CallerBatching.valueOf(name())
                .on(new PostgresLockBackend(operations, engine, wakeUps, settings, onClose));
    }
}
