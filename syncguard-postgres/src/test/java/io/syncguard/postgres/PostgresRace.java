package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A database in which a test decides the order of events: another session holds rows, and an operation stops at a
 * change or a call until the test lets it go on. Registered in a test class, it serves all its tests in turn. Before
 * each of them it is reset, with a clock that stands still.
 */
final class PostgresRace extends RaceDatabase implements BeforeEachCallback, AfterAllCallback {

    private static final int RED_LIGHT = 42;

    private final Connection other;
    private final RaceNotifications notifications;
    private final RaceStops stops;

    PostgresRace() {
        this(10);
    }

    /** @param connections maximum number of connections of the backend */
    PostgresRace(int connections) {
        this(connections, Duration.ofSeconds(60), FenceSource.COUNTER);
    }

    /** A race with fences by the clock. */
    static PostgresRace byTheClock() {
        return new PostgresRace(10, Duration.ofSeconds(60), FenceSource.CLOCK);
    }

    /** A race whose backend waits for locks for four tenths of a second. */
    static PostgresRace impatient() {
        return new PostgresRace(4, Duration.ofMillis(500), FenceSource.COUNTER);
    }

    private PostgresRace(int connections, Duration timeout, FenceSource fences) {
        super(connections, timeout, fences);
        try {
            other = newSession();
            other.setAutoCommit(false);
            notifications = new RaceNotifications(jdbc, newSession());
        } catch (SQLException ex) {
            throw new IllegalStateException("No session could be opened beside those of the backend", ex);
        }
        stops = new RaceStops(jdbc, RED_LIGHT);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws SQLException {
        reset();
    }

    /** Resets everything, and stops the clock. */
    void reset() throws SQLException {
        other.rollback();
        greenLight();
        stops.removeAll();
        functions.restoreAll();
        jdbc.execute(
                "TRUNCATE syncguard_locks, syncguard_locks_shared, syncguard_locks_waiters, syncguard_fence_counters");
        woken();
        stopClock();
    }

    /**
     * Locks the serialising row: all grants, releases and queue operations of the key wait until the other session's
     * transaction ends.
     */
    void lockSerialisingRow() throws SQLException {
        inOther("SELECT FROM syncguard_fence_counters FOR UPDATE");
    }

    /** Pins an exclusive lease, as a guarded commit does. */
    void pinWriter() throws SQLException {
        inOther("SELECT FROM syncguard_locks FOR KEY SHARE");
    }

    /** Pins shared leases, as a guarded commit does. */
    void pinReaders() throws SQLException {
        inOther("SELECT FROM syncguard_locks_shared FOR KEY SHARE");
    }

    /** Runs a statement in the transaction of the other session. */
    void inOther(String sql) throws SQLException {
        try (Statement statement = other.createStatement()) {
            statement.execute(sql);
        }
    }

    void commitOther() throws SQLException {
        other.commit();
    }

    void rollbackOther() throws SQLException {
        other.rollback();
    }

    /** Stops the next session that runs such a statement on the table. The statement's snapshot exists. */
    void stopBefore(String statement, String table) throws SQLException {
        stopBefore(1, statement, table);
    }

    void stopBefore(int sessions, String statement, String table) throws SQLException {
        stops.atChange(sessions, "BEFORE " + statement, table, "STATEMENT");
        redLight();
    }

    /** Stops the next session before it writes a row of the table. Earlier parts of the statement have run. */
    void stopBeforeRow(String statement, String table) throws SQLException {
        stops.atChange(1, "BEFORE " + statement, table, "ROW");
        redLight();
    }

    /** Stops the next session that has run such a statement on the table. */
    void stopAfter(String statement, String table) throws SQLException {
        stops.atChange(1, "AFTER " + statement, table, "STATEMENT");
        redLight();
    }

    /** Stops the next session that calls the function. */
    void stopBeforeCall(String function) throws SQLException {
        stops.beforeCall(function);
        redLight();
    }

    /** Stops the next session that has called the function. */
    void stopAfterCall(String function) throws SQLException {
        stops.afterCall(function);
        redLight();
    }

    /** Stops an extension before the statement that locks its rows. It has seen which leases it shortens. */
    void stopExtensionBeforeItLooks() throws SQLException {
        stopAfterCall("syncguard_locks_lock_keys");
    }

    /** Stops an extension after it locks its rows of this table and before it reads the clock. */
    void stopExtensionBeforeItJudges(String table) throws SQLException {
        stopBefore("UPDATE", table);
    }

    /** Stops an extension after it locks a row of this table and sees that the lease is live. It has the new expiry. */
    void stopExtensionBeforeItWrites(String table) throws SQLException {
        stopBeforeRow("UPDATE", table);
    }

    /**
     * Takes a lock of the session, not of a transaction, so that the stopped session still waits after the other one
     * commits.
     */
    private void redLight() throws SQLException {
        inOther("SELECT pg_advisory_lock(" + RED_LIGHT + ")");
    }

    /** Lets all stopped sessions go on. */
    void greenLight() throws SQLException {
        inOther("SELECT pg_advisory_unlock_all()");
        other.commit();
    }

    static <T> Future<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "race");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    /** Starts the operation and waits until one more session waits for a lock. */
    <T> Future<T> startBlocked(Callable<T> work) {
        int before = blocked();
        Future<T> task = start(work);
        awaitBlocked(before + 1);
        return task;
    }

    Future<AcquireResult> startAcquire(AcquireRequest request) {
        return startBlocked(() -> backend.acquire(request));
    }

    Future<ReleaseResult> startRelease(String lockId) {
        return startRelease(new KeyedLockId(lockId));
    }

    /** @param id with a key that is probably not contended, for the short form of a release */
    Future<ReleaseResult> startRelease(KeyedLockId id) {
        return startBlocked(() -> backend.release(id));
    }

    Future<ExtendResult> startExtend(String lockId) {
        return startBlocked(() -> extend(lockId));
    }

    Future<ExtendResult> startRotate(String lockId) {
        return startBlocked(() -> rotate(lockId));
    }

    /** Waits until this many sessions wait for a lock. */
    void awaitBlocked(int sessions) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(5))
                .until(this::blocked, blocked -> blocked == sessions);
    }

    private int blocked() {
        return jdbc.queryForObject("""
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'
                """, Integer.class);
    }

    /** Returns the waiters that were woken since the last call, in the order of their numbers. */
    List<Long> woken() throws SQLException {
        return notifications.woken();
    }

    /** Asserts the pause after a refusal because of a lapsed row that another session has locked. */
    void assertRefusedForAMoment(AcquireRequest request) {
        assertThat(backend.acquire(request))
                .isInstanceOfSatisfying(
                        AcquireResult.Refused.class,
                        refusal -> assertThat(refusal.timeLeft())
                                .isBetween(Duration.ofMillis(50), Duration.ofMillis(100)));
    }

    static void assertTimesOut(ThrowingCallable operation) {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(operation)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
    }

    @Override
    public void afterAll(ExtensionContext context) throws SQLException {
        close();
    }

    @Override
    public void close() throws SQLException {
        if (!other.isClosed()) {
            other.rollback();
            other.close();
            notifications.close();
        }
        super.close();
    }
}
