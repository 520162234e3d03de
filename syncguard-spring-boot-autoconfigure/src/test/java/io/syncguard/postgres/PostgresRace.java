package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.Attempt;
import io.syncguard.core.Claim;
import io.syncguard.core.Claims;
import io.syncguard.core.ExtendOutcome;
import io.syncguard.core.Extension;
import io.syncguard.core.LockBackend;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A database of its own in which a test decides who comes first: another session holds rows, an operation stops at a line of
 * its function until it is told to go on, and the server's clock is set by hand. The tests of a class share one, one after the
 * other.
 */
final class PostgresRace implements AutoCloseable {

    /** Long, because a call may take a third of it. Leases end by the clock that the test moves. */
    static final Duration TTL = Duration.ofMinutes(10);

    static final String KEY = "k";
    static final String MINE = "mine------------------";
    static final String THEIRS = "theirs----------------";

    /** Where a function is to stop between two statements. */
    static final String STOP = "PERFORM race_stop();\n";

    private static final int RED_LIGHT = 42;

    /** Where waiters of all backends are woken. */
    private static final String CHANNEL = "race";

    /** A number that no waiter has. */
    private static final String ALL_HEARD = "0";

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final Map<String, String> originals = new HashMap<>();
    private final Connection other;
    private final Connection listener;

    final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    final LockBackend backend;

    PostgresRace() throws SQLException {
        this(10, "SET statement_timeout = '60s'");
    }

    /**
     * @param connections of the backend
     * @param onConnect is run on each of them
     */
    PostgresRace(int connections, String onConnect) throws SQLException {
        dataSource.setJdbcUrl(url);
        dataSource.setConnectionInitSql(onConnect);
        dataSource.setMaximumPoolSize(connections);
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> dataSource.getHikariPoolMXBean().getTotalConnections() == connections);
        backend = newBackend(dataSource::close);
        other = PostgresServer.dataSource(url).getConnection();
        other.setAutoCommit(false);
        jdbc.execute("""
                CREATE FUNCTION race_channel() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                BEGIN
                    NEW.channel := '%s';
                    RETURN NEW;
                END
                $$;
                CREATE TRIGGER race_channel BEFORE INSERT ON syncguard_locks_waiters
                    FOR EACH ROW EXECUTE FUNCTION race_channel()
                """.formatted(CHANNEL));
        listener = PostgresServer.dataSource(url).getConnection();
        listen("LISTEN " + CHANNEL);
        // A lock of the session, not of a transaction: the other session may commit and the light stays red.
        jdbc.execute("""
                CREATE FUNCTION race_stop() RETURNS BIGINT LANGUAGE plpgsql COST 1 AS $$
                BEGIN
                    PERFORM pg_advisory_xact_lock_shared(%d);
                    RETURN 0;
                END
                $$
                """.formatted(RED_LIGHT));
    }

    LockBackend newBackend(Runnable onClose) {
        return new PostgresLockBackend(
                dataSource,
                dataSource,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(60),
                        PostgresSettings.PLACE_TTL,
                        Duration.ZERO,
                        false),
                onClose);
    }

    static Claim claim(String lockId) {
        return Claims.exclusive(KEY, lockId, TTL, "test");
    }

    static Claim reader(String lockId) {
        return Claims.shared(KEY, lockId, TTL, "test");
    }

    Attempt.Grant grant(String lockId) {
        Attempt attempt = backend.acquire(claim(lockId));
        assertThat(attempt).isInstanceOf(Attempt.Grant.class);
        return (Attempt.Grant) attempt;
    }

    Attempt.Grant grantShared(String lockId) {
        Attempt attempt = backend.acquire(reader(lockId));
        assertThat(attempt).isInstanceOf(Attempt.Grant.class);
        return (Attempt.Grant) attempt;
    }

    /** Gives somebody a place in the queue. */
    Attempt.Queued queue(Claim claim, long waiter) {
        Attempt attempt = backend.acquire(claim.waitingAs(waiter));
        assertThat(attempt).isInstanceOf(Attempt.Queued.class);
        return (Attempt.Queued) attempt;
    }

    ExtendOutcome extend(String lockId) {
        return extend(lockId, TTL);
    }

    ExtendOutcome extend(String lockId, Duration ttl) {
        return backend.extend(List.of(new Extension(lockId, ttl))).get(0);
    }

    /** What the sweeper's statement does with these keys. */
    int sweep(String... keys) {
        return jdbc.queryForObject("SELECT syncguard_locks_sweep(?)", Integer.class, (Object) keys);
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

    /** The leases as they are stored: key, lock id, end. */
    List<Map<String, Object>> leases() {
        return jdbc.queryForList("SELECT key, lock_id, expires_at_ms FROM syncguard_locks ORDER BY key");
    }

    /** The lock ids of the shared leases, in the order of their fences. */
    List<String> readers() {
        return jdbc.queryForList("SELECT lock_id FROM syncguard_locks_shared ORDER BY fence", String.class);
    }

    /** The lock ids of those who wait, in the order of their arrival. */
    List<String> waiters() {
        return jdbc.queryForList("SELECT lock_id FROM syncguard_locks_waiters ORDER BY arrival", String.class);
    }

    /** The waiters who have been woken since the last call, in the order of their numbers. */
    List<Long> woken() throws SQLException {
        // Notifications arrive in the order of the commits.
        listen("NOTIFY " + CHANNEL + ", '" + ALL_HEARD + "'");
        List<Long> woken = new ArrayList<>();
        while (true) {
            PGNotification[] arrived = listener.unwrap(PGConnection.class).getNotifications(60_000);
            assertThat(arrived).as("notifications, at least the last").isNotEmpty();
            for (PGNotification heard : arrived) {
                if (heard.getParameter().equals(ALL_HEARD)) {
                    Collections.sort(woken);
                    return woken;
                }
                woken.add(Long.parseLong(heard.getParameter().split(" ")[0]));
            }
        }
    }

    private void listen(String sql) throws SQLException {
        try (Statement statement = listener.createStatement()) {
            statement.execute(sql);
        }
    }

    /** From now on the server's clock stands still, but for {@link #moveClock}. */
    void stopClock() {
        replaceClock("SELECT last_value FROM race_clock");
    }

    /** From now on the server's clock goes on by one step whenever it is read, and only then. */
    void tickingClock(Duration step) {
        replaceClock("SELECT nextval('race_clock')");
        jdbc.execute("ALTER SEQUENCE race_clock INCREMENT " + step.toMillis());
    }

    private void replaceClock(String query) {
        originals.putIfAbsent("now", source("now"));
        jdbc.execute("CREATE SEQUENCE IF NOT EXISTS race_clock");
        jdbc.queryForObject("SELECT setval('race_clock', 1800000000000)", Long.class);
        jdbc.execute("CREATE OR REPLACE FUNCTION syncguard_locks_now() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$ "
                + query + " $$");
    }

    /** A sequence is outside of transactions: everybody sees the new time at once. */
    void moveClock(Duration by) {
        jdbc.queryForObject("SELECT setval('race_clock', last_value + ?) FROM race_clock", Long.class, by.toMillis());
    }

    /** Runs in the transaction of the other session. */
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

    /** Runs in a transaction of its own. */
    void inTransaction(Consumer<JdbcTemplate> work) {
        new TransactionTemplate(new DataSourceTransactionManager(dataSource))
                .executeWithoutResult(status -> work.accept(jdbc));
    }

    /**
     * Puts a stop into a function.
     *
     * @param function its name without that of the table
     * @param where a text that stands once in it
     * @param replacement the text to put there
     */
    void rewrite(String function, String where, String replacement) throws SQLException {
        String source = source(function);
        assertThat(source.split(Pattern.quote(where), -1))
                .as("the function has this line once: " + where)
                .hasSize(2);
        originals.putIfAbsent(function, source);
        jdbc.execute(source.replace(where, replacement));
        redLight();
    }

    /** The function stops between two statements, before this comment or statement. */
    void stopBefore(String function, String line) throws SQLException {
        rewrite(function, line, STOP + line);
    }

    /** Takes the stops out of the function. Who stands at one stays there. */
    void restore(String function) {
        jdbc.execute(originals.get(function));
    }

    /** All as it was at first. */
    void reset() throws SQLException {
        other.rollback();
        greenLight();
        originals.values().forEach(jdbc::execute);
        originals.clear();
        jdbc.execute(
                "TRUNCATE syncguard_locks, syncguard_locks_shared, syncguard_locks_waiters, syncguard_fence_counters");
        woken();
    }

    private String source(String function) {
        // The one that does the work, if older instances call a wrapper of the same name.
        return jdbc.queryForObject(
                "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = ? ORDER BY length(prosrc) DESC LIMIT 1",
                String.class,
                "syncguard_locks_" + function);
    }

    private void redLight() throws SQLException {
        inOther("SELECT pg_advisory_lock(" + RED_LIGHT + ")");
    }

    /** Lets everybody go on, and nobody stop any more. */
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

    /** Waits until so many sessions wait for somebody's lock. */
    void awaitBlocked(int sessions) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> jdbc.queryForObject("""
                                SELECT count(*) FROM pg_stat_activity
                                WHERE datname = current_database() AND backend_type = 'client backend'
                                    AND wait_event_type = 'Lock'
                                """, Integer.class), blocked -> blocked == sessions);
    }

    /** New sessions with the settings of the server. */
    JdbcTemplate outside() {
        return new JdbcTemplate(PostgresServer.dataSource(url));
    }

    /** Closes all sessions, so that their numbers are there, and answers a number of {@code pg_stat_database}. */
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
        if (!other.isClosed()) {
            other.rollback();
            other.close();
            listener.close();
        }
        backend.close();
    }
}
