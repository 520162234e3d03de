package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.syncguard.core.ContractStore;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.ListingBackend;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.DocumentedRights;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A database of its own on the real server, until the tests of the class end. Backends that reach it directly have the
 * rights of the manual and no others. Queue entries live long enough for a slow machine.
 */
public class PostgresContractStore implements ContractStore, AfterAllCallback, AutoCloseable {

    private static final Duration WAITER_TTL = Duration.ofMinutes(1);

    private final DocumentedRights rights;
    private final HikariDataSource dataSource = new HikariDataSource();
    private final PostgresBatching batching;
    private final FenceSource fences;
    private final String url;
    private final DataSource wakeUps;
    private final JdbcTemplate jdbc;

    public PostgresContractStore() {
        this(PostgresBatching.AUTO);
    }

    PostgresContractStore(PostgresBatching batching) {
        this(batching, FenceSource.COUNTER);
    }

    PostgresContractStore(PostgresBatching batching, FenceSource fences) {
        this(UnaryOperator.identity(), batching, fences);
    }

    /** @param detour maps the URL of the database to the URL for the operations of the backends */
    PostgresContractStore(UnaryOperator<String> detour, PostgresBatching batching, FenceSource fences) {
        this.batching = batching;
        this.fences = fences;
        url = PostgresServer.newDatabaseUrl();
        // The statements of the tests do not say the types of their texts.
        jdbc = new JdbcTemplate(PostgresServer.dataSource(url + "&stringtype=unspecified"));
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT, fences).initialize();
        String way = detour.apply(url);
        if (way.equals(url)) {
            rights = rights(url, fences);
            wakeUps = rights.dataSource();
            dataSource.setDataSource(wakeUps);
        } else {
            rights = null;
            wakeUps = PostgresServer.dataSource(url);
            dataSource.setJdbcUrl(way);
        }
        dataSource.setMaximumPoolSize(16);
        dataSource.setMinimumIdle(1);
    }

    private static DocumentedRights rights(String url, FenceSource fences) {
        DocumentedRights rights = DocumentedRights.noneIn(url).grant("rights-locks");
        return fences == FenceSource.CLOCK ? rights.grant("rights-clock") : rights;
    }

    @Override
    public final PostgresContractStore emptied() {
        awaitLateRequests();
        jdbc.execute("TRUNCATE syncguard_locks, syncguard_locks_shared, syncguard_locks_waiters,"
                + " syncguard_fence_counters");
        return this;
    }

    /**
     * A statement of a caller who was interrupted may still run, in a session whose client is gone: it would grant a
     * key to nobody in the next test.
     */
    private void awaitLateRequests() {
        HikariPoolMXBean pool = dataSource.getHikariPoolMXBean();
        if (rights != null && pool != null) {
            EngineFixture.eventually()
                    .until(() -> pool.getActiveConnections() == 0 && sessions() <= pool.getTotalConnections());
        }
    }

    private int sessions() {
        return jdbc.queryForObject("SELECT count(*) FROM pg_stat_activity WHERE usename = ?", Integer.class, role());
    }

    String url() {
        return url;
    }

    /** The role of the backends. */
    String role() {
        return rights.role();
    }

    JdbcTemplate jdbc() {
        return jdbc;
    }

    /** Sweeps the key, as the sweeper does when it has found it. */
    void sweep(String key) {
        jdbc.queryForList("SELECT syncguard_locks_sweep(ARRAY[?])", key);
    }

    /** Sends a message to all processes that wait for a key, as every client can that may send to their channels. */
    void sendToWaiters(String message) {
        List<String> channels = jdbc.queryForList("SELECT DISTINCT channel FROM syncguard_locks_waiters", String.class);
        assertThat(channels).isNotEmpty();
        channels.forEach(channel -> jdbc.queryForList("SELECT pg_notify(?, ?)", channel, message));
    }

    @Override
    public StoreCalls newBackend() {
        return calls(new PostgresLockBackend(
                dataSource,
                dataSource,
                wakeUps,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {}));
    }

    StoreCalls calls(LockBackend backend) {
        return new StoreCalls(batching == PostgresBatching.ALWAYS ? new ListingBackend(backend) : backend);
    }

    @Override
    public void expireLease(String lockId) {
        for (String table : new String[] {"syncguard_locks", "syncguard_locks_shared"}) {
            jdbc.update(
                    "UPDATE " + table + " SET expires_at_ms = syncguard_locks_now() - 1000 WHERE lock_id = ?", lockId);
        }
    }

    @Override
    public void expire(String key) {
        jdbc.queryForList(
                        "SELECT lock_id FROM syncguard_locks WHERE key = ?"
                                + " UNION ALL SELECT lock_id FROM syncguard_locks_shared WHERE key = ?",
                        String.class,
                        key,
                        key)
                .forEach(this::expireLease);
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        jdbc.update(
                "UPDATE syncguard_locks_waiters SET expires_at_ms = syncguard_locks_now() + ? WHERE lock_id = ?",
                left.toMillis(),
                lockId);
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        jdbc.update("UPDATE syncguard_fence_counters SET fence = ? WHERE key_debug = ?", fence, key);
    }

    @Override
    public FenceSource fences() {
        return fences;
    }

    @Override
    public long clockMillis() {
        return jdbc.queryForObject("SELECT syncguard_locks_now()", Long.class);
    }

    @Override
    public long storedFence(String key) {
        return jdbc
                .queryForList("SELECT fence FROM syncguard_fence_counters WHERE key_debug = ?", Long.class, key)
                .stream()
                .findFirst()
                .orElse(0L);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        dataSource.close();
    }
}
