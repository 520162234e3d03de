package io.syncguard.portable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.concurrent.Time;
import io.syncguard.core.ContractStore;
import io.syncguard.core.ListingBackend;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A database of its own on a real server, until the tests of the class end. */
abstract class PortableContractStore implements ContractStore {

    static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Long enough for a slow machine. */
    static final Duration WAITER_TTL = Duration.ofMinutes(1);

    private final Dialect dialect;
    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final boolean inLists;

    /** @param inLists whether requests travel in lists, as those of many callers do */
    PortableContractStore(Dialect dialect, String url, boolean inLists) {
        this.dialect = dialect;
        this.inLists = inLists;
        HikariConfig details = dataSource;
        details.setJdbcUrl(url);
        details.setMaximumPoolSize(16);
        details.setMinimumIdle(1);
        dialect.complete(details, TIMEOUT, "");
        new PortableSchema(dataSource, new PortableScript(dialect, PortableTables.DEFAULT), null).initialize(List::of);
    }

    @Override
    public PortableContractStore emptied() {
        jdbc.update("DELETE FROM syncguard_leases");
        jdbc.update("DELETE FROM syncguard_waiters");
        jdbc.update("DELETE FROM syncguard_keys");
        return this;
    }

    DataSource dataSource() {
        return dataSource;
    }

    @Override
    public StoreCalls newBackend() {
        return newBackend(dataSource, Time.SYSTEM);
    }

    /** Creates a backend whose engine has connections of its own. */
    StoreCalls newBackend(DataSource engineDataSource, Time time) {
        return newBackend(dataSource, engineDataSource, time);
    }

    StoreCalls newBackend(DataSource ofCallers, DataSource engineDataSource, Time time) {
        LockBackend backend = new PortableLockBackend(
                ofCallers,
                engineDataSource,
                dialect,
                PortableTables.DEFAULT,
                new PortableSettings(TIMEOUT, WAITER_TTL, Duration.ZERO, fences()),
                () -> {},
                time);
        return new StoreCalls(inLists ? new ListingBackend(backend) : backend);
    }

    @Override
    public void expireLease(String lockId) {
        jdbc.update("UPDATE syncguard_leases SET expires_at = ? WHERE lock_id = ?", clockMillis() - 1000, lockId);
    }

    @Override
    public void expire(String key) {
        jdbc.update("UPDATE syncguard_leases SET expires_at = ? WHERE lock_key = ?", clockMillis() - 1000, bytes(key));
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        jdbc.update(
                "UPDATE syncguard_waiters SET expires_at = ? WHERE lock_id = ?",
                clockMillis() + left.toMillis(),
                lockId);
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        jdbc.update("UPDATE syncguard_keys SET fence = ? WHERE lock_key = ?", fence, bytes(key));
    }

    @Override
    public long storedFence(String key) {
        return jdbc.queryForList("SELECT fence FROM syncguard_keys WHERE lock_key = ?", Long.class, bytes(key)).stream()
                .findFirst()
                .orElse(0L);
    }

    @Override
    public FenceSource fences() {
        return FenceSource.COUNTER;
    }

    @Override
    public long clockMillis() {
        return jdbc.queryForObject("SELECT " + dialect.clock(), Long.class);
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }
}
