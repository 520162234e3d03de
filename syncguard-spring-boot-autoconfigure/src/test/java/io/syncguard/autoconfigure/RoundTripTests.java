package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.jdbc.JdbcPools;
import io.syncguard.postgres.PostgresDatabase;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The cost of an operation, counted at the server and on the wire, on the connections that an application gets. */
class RoundTripTests {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate admin = new JdbcTemplate(PostgresServer.newConnections(url));
    private final PostgresProxy proxy = new PostgresProxy(url);
    private final HikariDataSource application = new HikariDataSource();

    private JdbcPools pools;
    private long statementsSoFar = -1;
    private StoreCalls backend;

    @BeforeEach
    void open() {
        application.setJdbcUrl(proxy.url());
        application.setMaximumPoolSize(1);
        pools = new JdbcPools(
                new PostgresDatabase(),
                application,
                false,
                new JdbcPools.Settings("syncguard.postgres", 1, true, Duration.ofSeconds(10), ""));
        new PostgresSchema(pools.operations(), PostgresTables.DEFAULT).initialize();
        backend = new StoreCalls(new PostgresLockBackend(
                pools.operations(),
                pools.engine(),
                pools.wakeUps(),
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        pools.timeout(),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                pools::close));
        admin.execute("CREATE EXTENSION pg_stat_statements");
        useBothPools();
        // A pool may open a second connection in the background, and the messages of that count as well.
        Awaitility.await("quiet pools")
                .atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(200))
                .until(this::isQuiet);
    }

    @AfterEach
    void close() {
        backend.close();
        application.close();
        proxy.close();
    }

    @Test
    void every_operation_is_one_statement_and_one_round_trip() {
        costsOne(() -> assertThat(backend.acquire(request("a", "1---------------------")))
                .isInstanceOf(AcquireResult.Granted.class));
        backend.acquire(request("a", "2---------------------"));
        costsOne(() -> assertThat(backend.acquire(request("a", "2---------------------")))
                .as("from the second refusal on")
                .isInstanceOf(AcquireResult.Refused.class));
        costsOne(() -> assertThat(extend("1---------------------")).isInstanceOf(ExtendResult.Extended.class));
        costsOne(() -> assertThat(backend.rotate(Requests.extension("1---------------------", TTL)))
                .isInstanceOf(ExtendResult.Rotated.class));
        costsOne(() -> assertThat(backend.isLocked("a")).isTrue());
        costsOne(() -> assertThat(backend.lookup("a")).hasSize(1));
        costsOne(() -> assertThat(backend.lookupById("1---------------------")).isPresent());
        costsOne(() -> assertThat(backend.release("1---------------------")).isEqualTo(ReleaseResult.RELEASED));
        costsOne(() -> assertThat(backend.release("1---------------------")).isEqualTo(ReleaseResult.NOT_FOUND));
    }

    @Test
    void it_stays_one_inside_a_transaction_of_the_caller_and_the_caller_pays_nothing() {
        TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(application));
        JdbcTemplate jdbc = new JdbcTemplate(application);

        transaction.executeWithoutResult(status -> {
            jdbc.queryForObject("SELECT 1", Integer.class);
            costsOne(() -> assertThat(backend.acquire(request("a", "1---------------------")))
                    .isInstanceOf(AcquireResult.Granted.class));
            costsOne(() -> assertThat(backend.release("1---------------------")).isEqualTo(ReleaseResult.RELEASED));
            costsOne(() -> backend.acquire(request("a", "3---------------------")));
            status.setRollbackOnly();
        });

        assertThat(backend.lookupById("3---------------------"))
                .as("the caller's rollback does not undo a grant")
                .isPresent();
    }

    @Test
    void a_heartbeat_of_a_thousand_locks_is_one_statement_for_each_five_hundred() {
        List<String> lockIds = IntStream.range(0, 500)
                .mapToObj(i -> String.format(Locale.ROOT, "%04d------------------", i))
                .toList();
        lockIds.forEach(lockId -> backend.acquire(request("key " + lockId, lockId)));

        costsOne(() -> assertThat(backend.extendAll(lockIds.stream()
                        .map(lockId -> Requests.extension(lockId, TTL))
                        .toList()))
                .hasSize(500)
                .hasOnlyElementsOfType(ExtendResult.Extended.class));
    }

    @Test
    void a_refusal_writes_nothing_to_the_log() {
        backend.acquire(request("a", "1---------------------"));

        long least = IntStream.range(0, 3)
                .mapToLong(round -> walOfHundredRefusals())
                .min()
                .getAsLong();

        assertThat(least)
                .as("bytes; a row lock would be fifty for each, and the server writes by itself now and then")
                .isLessThan(2_000);
    }

    private long walOfHundredRefusals() {
        long before = walInserted();
        for (int i = 0; i < 100; i++) {
            assertThat(backend.acquire(request("a", "2---------------------")))
                    .isInstanceOf(AcquireResult.Refused.class);
        }
        return walInserted() - before;
    }

    @Test
    void an_acquire_is_durable_when_it_is_answered_and_a_release_does_not_wait_for_the_disk() {
        int acquiresFlushed = 0;
        int releasesFlushed = 0;
        for (int i = 0; i < 20; i++) {
            backend.acquire(request("a", "1---------------------"));
            acquiresFlushed += walUnflushed() == 0 ? 1 : 0;
            backend.release("1---------------------");
            releasesFlushed += walUnflushed() == 0 ? 1 : 0;
        }

        assertThat(acquiresFlushed).as("except for the server's own writes").isGreaterThan(15);
        assertThat(releasesFlushed).as("except for the server's own flushes").isLessThan(15);
    }

    @Test
    void a_silent_server_holds_an_operation_no_longer_than_a_third_of_its_ttl() {
        backend.isLocked("warm up");
        proxy.fallSilent();
        long began = System.nanoTime();

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> backend.acquire(
                        Requests.exclusive("a", "1---------------------", Duration.ofMillis(1500), "test")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT))
                .withMessageContaining("'a'");

        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isBetween(Duration.ofMillis(450), pools.timeout().dividedBy(2));
        proxy.speakAgain();
        Awaitility.await("a new connection")
                .atMost(Duration.ofSeconds(10))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> !backend.isLocked("never"));
    }

    private static AcquireRequest request(String key, String lockId) {
        return Requests.exclusive(key, lockId, TTL, "test");
    }

    private ExtendResult extend(String lockId) {
        return backend.extendAll(List.of(Requests.extension(lockId, TTL))).get(0);
    }

    private void costsOne(Runnable operation) {
        useBothPools();
        long statementsBefore = statements();
        // Again: the pools first test a connection that was idle for half a second.
        useBothPools();
        long tripsBefore = proxy.roundTrips();
        operation.run();
        assertThat(statements() - statementsBefore)
                .as("statements, including the two before")
                .isEqualTo(3);
        assertThat(proxy.roundTrips() - tripsBefore).as("round trips").isEqualTo(1);
    }

    private void useBothPools() {
        backend.isLocked("warm up");
        backend.extendAll(List.of(Requests.extension("nobody's--------------", Duration.ofSeconds(30))));
    }

    /** Whether there were no messages since the last call. */
    private boolean isQuiet() {
        long before = statementsSoFar;
        statementsSoFar = statements();
        return statementsSoFar == before;
    }

    /**
     * The number of statements that the server executed in this database, without these questions, which do not come
     * through the proxy.
     */
    private long statements() {
        return admin.queryForObject("""
                SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
                WHERE toplevel AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
                  AND query NOT LIKE '%pg_stat_statements%' AND query NOT LIKE 'SET extra_float_digits%'
                  AND query NOT LIKE 'SET application_name%'
                """, Long.class);
    }

    private long walInserted() {
        return admin.queryForObject("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint", Long.class);
    }

    private long walUnflushed() {
        return admin.queryForObject(
                "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn())::bigint", Long.class);
    }
}
