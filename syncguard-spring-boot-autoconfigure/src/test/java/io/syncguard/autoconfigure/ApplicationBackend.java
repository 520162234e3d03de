package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.LockBackend;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.postgres.PostgresTables;
import java.time.Duration;

/**
 * The backend of an application on PostgreSQL, on the connections and with the settings that it would get, for tests that need
 * no application around it.
 */
public final class ApplicationBackend {

    private ApplicationBackend() {}

    /** With the default settings, and the schema in place. */
    public static LockBackend on(String url) {
        return on(url, 8, Duration.ofSeconds(5));
    }

    /**
     * With the schema in place.
     *
     * @param poolSize see {@code syncguard.postgres.pool-size}
     * @param networkTimeout see {@code syncguard.postgres.network-timeout}
     */
    public static LockBackend on(String url, int poolSize, Duration networkTimeout) {
        // Asked for its connection details and never opened.
        HikariDataSource application = new HikariDataSource();
        application.setJdbcUrl(url);
        PostgresPools pools = new PostgresPools(application, poolSize, networkTimeout);
        new PostgresSchema(pools.operations(), PostgresTables.DEFAULT).initialize();
        return new PostgresLockBackend(
                pools.operations(),
                pools.heartbeats(),
                new PostgresSettings(PostgresTables.DEFAULT, pools.timeout(), Duration.ZERO, false),
                pools::close);
    }
}
