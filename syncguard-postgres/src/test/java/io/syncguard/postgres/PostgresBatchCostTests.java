package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresProxy;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** What a batch of 32 costs, counted at the server and on the wire. */
class PostgresBatchCostTests {

    private static final List<AcquireRequest> REQUESTS = IntStream.range(0, 32)
            .mapToObj(i -> PostgresBatches.request("key " + i, "me"))
            .toList();
    private static final List<AcquireRequest> REFUSED = IntStream.range(0, 32)
            .mapToObj(i -> PostgresBatches.request("key " + i, "other"))
            .toList();
    private static final List<String> LOCK_IDS =
            REQUESTS.stream().map(AcquireRequest::lockId).toList();

    /** Nobody else commits here, and the server itself flushes every ten seconds. */
    private static final OwnPostgres SERVER = new OwnPostgres(Map.of("fsync", "off", "wal_writer_delay", "10s"));

    private final JdbcTemplate admin = SERVER.jdbc();
    private final PostgresProxy proxy = new PostgresProxy(SERVER.url());
    private final HikariDataSource pool = new HikariDataSource();
    private final PostgresBatches batches = new PostgresBatches(pool);

    @BeforeEach
    void open() {
        pool.setJdbcUrl(proxy.url());
        pool.setMaximumPoolSize(1);
        pool.setMinimumIdle(1);
        new PostgresSchema(pool, PostgresTables.DEFAULT).initialize();
    }

    @AfterEach
    void close() {
        pool.close();
        proxy.close();
        admin.execute("TRUNCATE syncguard_locks");
    }

    @AfterAll
    static void stop() throws IOException {
        SERVER.close();
    }

    @Test
    void an_acquire_is_one_round_trip_and_one_flush_and_a_release_one_round_trip_and_none() {
        int acquiresFlushed = 0;
        int releasesFlushed = 0;
        int trips = 0;
        for (int i = 0; i < 20; i++) {
            long before = proxy.roundTrips();
            assertThat(batches.acquire(REQUESTS)).hasOnlyElementsOfType(AcquireResult.Granted.class);
            acquiresFlushed += walUnflushed() == 0 ? 1 : 0;
            assertThat(batches.release(LOCK_IDS)).containsOnly(ReleaseResult.RELEASED);
            releasesFlushed += walUnflushed() == 0 ? 1 : 0;
            trips += proxy.roundTrips() - before == 2 ? 1 : 0;
        }

        assertThat(acquiresFlushed)
                .as("but for what the server writes by itself")
                .isGreaterThan(15);
        assertThat(releasesFlushed)
                .as("but for what the server flushes by itself")
                .isLessThan(5);
        assertThat(trips)
                .as("but for what the pool asks a connection that nobody has used for half a second")
                .isGreaterThan(15);
    }

    @Test
    void a_refusal_writes_nothing_to_the_log() {
        batches.acquire(REQUESTS);

        long least = IntStream.range(0, 3)
                .mapToLong(round -> walOfHundredRefusedBatches())
                .min()
                .getAsLong();

        assertThat(least)
                .as("bytes; a row lock would be fifty for each key, and the server writes by itself now and then")
                .isLessThan(2_000);
    }

    private long walOfHundredRefusedBatches() {
        long before = walInserted();
        for (int i = 0; i < 100; i++) {
            assertThat(batches.acquire(REFUSED)).hasOnlyElementsOfType(AcquireResult.Refused.class);
        }
        return walInserted() - before;
    }

    private long walInserted() {
        return admin.queryForObject("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint", Long.class);
    }

    private long walUnflushed() {
        return admin.queryForObject(
                "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn())::bigint", Long.class);
    }
}
