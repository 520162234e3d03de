package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import io.syncguard.core.Requests;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Sends batches to a database without the backend. */
final class PostgresBatches {

    private static final PostgresSettings SETTINGS = new PostgresSettings(
            PostgresTables.DEFAULT,
            Duration.ofSeconds(60),
            PostgresSettings.WAITER_TTL,
            Duration.ZERO,
            false,
            FenceSettings.from(FenceSource.COUNTER));

    private final PostgresConnections connections;
    private final AcquireStatement acquire = new AcquireStatement(SETTINGS);
    private final ReleaseStatement release = new ReleaseStatement(SETTINGS);

    PostgresBatches(DataSource dataSource) {
        this.connections = new PostgresConnections(
                dataSource,
                Duration.ofSeconds(60),
                new PostgresSearchPath(PostgresTables.DEFAULT),
                new RunningRequests(Time.SYSTEM));
    }

    PostgresBatches(RaceDatabase database) {
        this(Objects.requireNonNull(database.jdbc.getDataSource()));
    }

    /** Creates a request of a caller who does not wait. Its lock id names the key and the caller. */
    static AcquireRequest request(String key, String caller) {
        return Requests.exclusive(key, lockId(key, caller), RaceDatabase.TTL, "test");
    }

    static String lockId(String key, String caller) {
        return key + " of " + caller;
    }

    /** The answers; {@code null} for a request that has to be sent alone. */
    List<@Nullable AcquireResult> acquire(AcquireRequest... requests) {
        return acquire(Arrays.asList(requests));
    }

    List<@Nullable AcquireResult> acquire(List<AcquireRequest> requests) {
        List<@Nullable AcquireResult> results = new ArrayList<>(acquire.batch(connections, requests, null));
        results.replaceAll(result -> result instanceof AcquireResult.Undecided ? null : result);
        assertThat(results).hasSameSizeAs(requests);
        return results;
    }

    List<@Nullable ReleaseResult> release(String... lockIds) {
        return release(Arrays.asList(lockIds));
    }

    List<@Nullable ReleaseResult> release(List<String> lockIds) {
        List<@Nullable ReleaseResult> results = new ArrayList<>(release.batch(connections, lockIds, null));
        results.replaceAll(result -> ReleaseResult.UNDECIDED.equals(result) ? null : result);
        return results;
    }
}
