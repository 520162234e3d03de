package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A database of its own with a backend. The test reads its rows and sets its clock by hand. */
class RaceDatabase implements AutoCloseable {

    /** Long, because a request may take a third of it. Leases end by the clock that the test moves. */
    static final Duration TTL = Duration.ofMinutes(10);

    /** The time after which a lease of {@link #TTL} has lapsed. */
    static final Duration PAST_THE_TTL = TTL.plusSeconds(1);

    static final String KEY = "k";
    static final String MINE = "mine------------------";
    static final String THEIRS = "theirs----------------";

    static final String FIRST = "first-----------------";
    static final String SECOND = "second----------------";
    static final String THIRD = "third-----------------";
    static final String FOURTH = "fourth----------------";

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final Duration timeout;

    final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    final StoreCalls backend;
    final ReplacedFunctions functions = new ReplacedFunctions(jdbc);

    /**
     * @param connections maximum number of connections of the backend
     * @param timeout the network timeout of the backend
     */
    RaceDatabase(int connections, Duration timeout) {
        this(connections, timeout, FenceSource.COUNTER);
    }

    RaceDatabase(int connections, Duration timeout, FenceSource fences) {
        this.timeout = timeout;
        dataSource.setJdbcUrl(url);
        dataSource.setMaximumPoolSize(connections);
        new PostgresSchema(dataSource, PostgresTables.DEFAULT, fences).initialize();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> dataSource.getHikariPoolMXBean().getTotalConnections() == connections);
        backend = newBackend(dataSource::close);
    }

    StoreCalls newBackend(Runnable onClose) {
        // Each client has a statement of its own.
        return PostgresBatching.OFF.backend(
                dataSource,
                dataSource,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        timeout,
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                onClose);
    }

    static AcquireRequest request(String lockId) {
        return Requests.exclusive(KEY, lockId, TTL, "test");
    }

    static AcquireRequest reader(String lockId) {
        return Requests.shared(KEY, lockId, TTL, "test");
    }

    AcquireResult.Granted grant(String lockId) {
        AcquireResult attempt = backend.acquire(request(lockId));
        assertThat(attempt).isInstanceOf(AcquireResult.Granted.class);
        return (AcquireResult.Granted) attempt;
    }

    AcquireResult.Granted grantShared(String lockId) {
        AcquireResult attempt = backend.acquire(reader(lockId));
        assertThat(attempt).isInstanceOf(AcquireResult.Granted.class);
        return (AcquireResult.Granted) attempt;
    }

    /** Creates a queue entry for this request. */
    AcquireResult.Queued queue(AcquireRequest request, long waiter) {
        AcquireResult attempt = backend.acquire(request.waitingAs(waiter));
        assertThat(attempt).isInstanceOf(AcquireResult.Queued.class);
        return (AcquireResult.Queued) attempt;
    }

    /** Returns the time that refused callers have to wait, as far as the server knows. */
    static Duration timeLeft(AcquireResult attempt) {
        return attempt instanceof AcquireResult.Queued queued
                ? queued.nextLook()
                : ((AcquireResult.Refused) attempt).timeLeft();
    }

    ExtendResult extend(String lockId) {
        return extend(lockId, TTL);
    }

    ExtendResult extend(String lockId, Duration ttl) {
        return backend.extendAll(List.of(Requests.extension(lockId, ttl))).get(0);
    }

    List<Duration> renewWaiters(String... lockIds) {
        return backend.renewWaiters(Stream.of(lockIds).map(KeyedLockId::new).toList());
    }

    ExtendResult rotate(String lockId) {
        return backend.rotate(Requests.extension(lockId, TTL));
    }

    /** Runs the sweeper's statement for these keys. */
    int sweep(String... keys) {
        return jdbc.queryForObject("SELECT syncguard_locks_sweep(?)", Integer.class, (Object) keys);
    }

    /** Deletes the idle counters, as the sweeper does. */
    void forget() {
        jdbc.queryForObject("SELECT syncguard_locks_forget('', ?)", String.class, FenceSettings.RETENTION.toMillis());
    }

    /** The last fence that was drawn for the key. */
    long counter() {
        return jdbc.queryForObject(
                "SELECT fence FROM syncguard_fence_counters WHERE fence_key = 'fence:k'", Long.class);
    }

    /** The last fences that were drawn, by key. */
    Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>();
        jdbc.query("SELECT key_debug, fence FROM syncguard_fence_counters", row -> {
            counters.put(row.getString(1), row.getLong(2));
        });
        return counters;
    }

    void setCounters(long fence) {
        jdbc.update("UPDATE syncguard_fence_counters SET fence = ?", fence);
    }

    /** The leases as they are stored: key, lock id, end. */
    List<Map<String, Object>> leases() {
        return jdbc.queryForList("SELECT key, lock_id, expires_at_ms FROM syncguard_locks ORDER BY key");
    }

    /** The lock ids of the exclusive leases, in the order of their keys. */
    List<String> writers() {
        return jdbc.queryForList("SELECT lock_id FROM syncguard_locks ORDER BY key", String.class);
    }

    /** The lock ids of the shared leases, in the order of their fences. */
    List<String> readers() {
        return jdbc.queryForList("SELECT lock_id FROM syncguard_locks_shared ORDER BY fence", String.class);
    }

    /** The lock ids of the waiters, in the order of their arrival. */
    List<String> waiters() {
        return jdbc.queryForList("SELECT lock_id FROM syncguard_locks_waiters ORDER BY arrival", String.class);
    }

    void stopClock() {
        functions.stopClock();
    }

    void tickingClock(Duration step) {
        functions.tickingClock(step);
    }

    /** Makes the server's clock a real one again. */
    void restoreClock() {
        functions.restore("now");
    }

    void moveClock(Duration by) {
        functions.moveClock(by);
    }

    /** The time of the server's clock. */
    long now() {
        return jdbc.queryForObject("SELECT syncguard_locks_now()", Long.class);
    }

    /** Asserts the answers of all operations for a lease that has just been granted, after several periods. */
    void assertLiveForASecondAfterItsEnd(String lockId) {
        moveClock(TTL.plusMillis(999));
        assertThat(backend.isLocked(KEY)).isTrue();
        assertThat(backend.lookup(KEY)).hasSize(1);
        assertThat(backend.lookupById(lockId)).isPresent();
        assertThat(timeLeft(backend.acquire(request(THEIRS)))).isEqualTo(Duration.ofMillis(1));
        assertThat(extend(lockId)).isInstanceOf(ExtendResult.Extended.class);

        moveClock(TTL.plusMillis(1000));
        assertThat(backend.isLocked(KEY)).isFalse();
        assertThat(backend.lookup(KEY)).isEmpty();
        assertThat(backend.lookupById(lockId)).isEmpty();
        assertThat(extend(lockId)).isInstanceOf(ExtendResult.Expired.class);
        assertThat(backend.release(lockId)).isEqualTo(ReleaseResult.EXPIRED);
    }

    /** Runs the statements in a separate transaction. */
    void inTransaction(Consumer<JdbcTemplate> work) {
        new TransactionTemplate(new DataSourceTransactionManager(dataSource))
                .executeWithoutResult(status -> work.accept(jdbc));
    }

    /** A session with the settings of the server. */
    Connection newSession() throws SQLException {
        return PostgresServer.newConnections(url).getConnection();
    }

    /** New sessions with the settings of the server. */
    JdbcTemplate outside() {
        return new JdbcTemplate(PostgresServer.newConnections(url));
    }

    /** Closes all sessions, so that their statistics are complete, and returns a number of {@code pg_stat_database}. */
    long closeAndCount(String column) throws SQLException {
        close();
        JdbcTemplate outside = outside();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> outside.queryForObject("""
                                SELECT count(*) FROM pg_stat_activity
                                WHERE datname = current_database() AND pid <> pg_backend_pid()
                                """, Integer.class), sessions -> sessions == 0);
        return outside.queryForObject(
                "SELECT " + column + " FROM pg_stat_database WHERE datname = current_database()", Long.class);
    }

    @Override
    public void close() throws SQLException {
        backend.close();
    }
}
