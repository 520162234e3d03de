package io.syncguard.check;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.StoreCalls;
import io.syncguard.portable.Dialect;
import io.syncguard.portable.PortableLockBackend;
import io.syncguard.portable.PortableSchema;
import io.syncguard.portable.PortableScript;
import io.syncguard.portable.PortableSettings;
import io.syncguard.portable.PortableTables;
import io.syncguard.spi.FenceSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tables on MariaDB, MySQL or H2. */
final class PortableArea extends JdbcArea {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Queue entries of the contract live long enough for a slow server. */
    private static final Duration WAITER_TTL = Duration.ofMinutes(1);

    private final Dialect dialect;
    private final int usualPort;
    private final PortableTables tables;

    /** The connections of the contract, with the settings that the library gives to its own. */
    private final HikariDataSource locks = new HikariDataSource();

    PortableArea(PortableServer server, Dialect dialect, int usualPort, String name) {
        super(server, name, name + "_");
        this.dialect = dialect;
        this.usualPort = usualPort;
        this.tables = PortableTables.named(name + "_");
        HikariConfig details = locks;
        details.setJdbcUrl(server.pool().getJdbcUrl());
        details.setDataSourceProperties(server.pool().getDataSourceProperties());
        details.setMaximumPoolSize(16);
        details.setMinimumIdle(1);
        dialect.complete(details, TIMEOUT, "");
        try {
            new PortableSchema(locks, new PortableScript(dialect, tables), null).initialize(List::of);
            createData();
        } catch (RuntimeException ex) {
            closeAfter(ex);
            throw ex;
        }
    }

    @Override
    void addTables(Map<String, String> properties) {
        properties.put("syncguard.backend", "jdbc");
        properties.put("syncguard.jdbc.table-prefix", name() + "_");
        properties.put("syncguard.jdbc.schema-management", "none");
    }

    @Override
    public PortableArea emptied() {
        for (String table : List.of(tables.leases(), tables.waiters(), tables.keys())) {
            jdbc().update("DELETE FROM " + table);
        }
        return this;
    }

    @Override
    public StoreCalls newBackend() {
        return new StoreCalls(new PortableLockBackend(
                locks,
                locks,
                dialect,
                tables,
                new PortableSettings(TIMEOUT, WAITER_TTL, Duration.ZERO, FenceSource.COUNTER),
                () -> {}));
    }

    @Override
    public void expireLease(String lockId) {
        jdbc().update("UPDATE " + tables.leases() + " SET expires_at = ? WHERE lock_id = ?", over(), lockId);
    }

    @Override
    public void expire(String key) {
        jdbc().update("UPDATE " + tables.leases() + " SET expires_at = ? WHERE lock_key = ?", over(), bytes(key));
    }

    private long over() {
        return clockMillis() - 1000;
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        jdbc().update(
                        "UPDATE " + tables.waiters() + " SET expires_at = ? WHERE lock_id = ?",
                        clockMillis() + left.toMillis(),
                        lockId);
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        jdbc().update("UPDATE " + tables.keys() + " SET fence = ? WHERE lock_key = ?", fence, bytes(key));
    }

    @Override
    public long storedFence(String key) {
        return jdbc()
                .queryForList(
                        "SELECT fence FROM " + tables.keys() + " WHERE lock_key = ?", Long.class, (Object) bytes(key))
                .stream()
                .findFirst()
                .orElse(0L);
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public @Nullable String address() {
        return JdbcServer.addressIn(server().login().url(), usualPort);
    }

    @Override
    public boolean endSession() {
        return ((PortableServer) server()).endSession(name());
    }

    @Override
    public String leftovers() {
        return "the tables whose names begin with " + name();
    }

    @Override
    public void close() {
        locks.close();
        dropData();
        for (String table : List.of(tables.waiters(), tables.leases(), tables.keys())) {
            jdbc().execute("DROP TABLE IF EXISTS " + table);
        }
    }
}
