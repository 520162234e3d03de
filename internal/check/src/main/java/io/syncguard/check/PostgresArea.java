package io.syncguard.check;

import io.syncguard.core.StoreCalls;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A schema on PostgreSQL, or tables in the schema of the user if that one may create no schema. */
final class PostgresArea extends JdbcArea {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Queue entries of the contract live long enough for a slow server. */
    private static final Duration WAITER_TTL = Duration.ofMinutes(1);

    private static final int LONGEST_WAIT_MILLIS = 10_000;

    private final boolean schema;
    private final PostgresTables tables;

    PostgresArea(PostgresServer server, String name, boolean schema) {
        super(server, name, schema ? name + "." : name + "_");
        this.schema = schema;
        String prefix = schema ? name + "." : "";
        this.tables = new PostgresTables(
                prefix + (schema ? "syncguard_locks" : name), prefix + (schema ? "" : name + "_") + "fence_counters");
        if (schema) {
            jdbc().execute("CREATE SCHEMA " + name);
        }
        try {
            new PostgresSchema(server.pool(), tables).initialize();
            createData();
        } catch (RuntimeException ex) {
            closeAfter(ex);
            throw ex;
        }
    }

    PostgresTables tables() {
        return tables;
    }

    @Override
    void addTables(Map<String, String> properties) {
        properties.put("syncguard.backend", "postgres");
        properties.put("syncguard.postgres.locks-table", tables.locks());
        properties.put("syncguard.postgres.fence-counters-table", tables.fenceCounters());
        properties.put("syncguard.postgres.schema-management", "none");
    }

    @Override
    public PostgresArea emptied() {
        awaitLateRequests();
        for (String table : List.of(tables.locks(), tables.shared(), tables.waiters(), tables.fenceCounters())) {
            jdbc().update("DELETE FROM " + table);
        }
        return this;
    }

    /** A statement of an interrupted caller may still run, and would grant a key to nobody in the next rule. */
    private void awaitLateRequests() {
        String late = "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user AND state = 'active'"
                + " AND pid <> pg_backend_pid() AND position(? IN query) > 0";
        for (int waited = 0; waited < LONGEST_WAIT_MILLIS; waited += 10) {
            if (server().number(late, name()) == 0) {
                return;
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public StoreCalls newBackend() {
        return new StoreCalls(new PostgresLockBackend(
                server().pool(),
                server().pool(),
                ((PostgresServer) server()).wakeUps(),
                new PostgresSettings(
                        tables, TIMEOUT, WAITER_TTL, Duration.ZERO, false, FenceSettings.from(FenceSource.COUNTER)),
                () -> {}));
    }

    @Override
    public void expireLease(String lockId) {
        for (String table : List.of(tables.locks(), tables.shared())) {
            jdbc().update(
                            "UPDATE " + table + " SET expires_at_ms = " + tables.locks()
                                    + "_now() - 1000 WHERE lock_id = ?",
                            lockId);
        }
    }

    @Override
    public void expire(String key) {
        for (String table : List.of(tables.locks(), tables.shared())) {
            jdbc().update(
                            "UPDATE " + table + " SET expires_at_ms = " + tables.locks()
                                    + "_now() - 1000 WHERE key = ?",
                            key);
        }
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        jdbc().update(
                        "UPDATE " + tables.waiters() + " SET expires_at_ms = " + tables.locks()
                                + "_now() + ? WHERE lock_id = ?",
                        left.toMillis(),
                        lockId);
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        jdbc().update("UPDATE " + tables.fenceCounters() + " SET fence = ? WHERE key_debug = ?", fence, key);
    }

    @Override
    public long storedFence(String key) {
        return jdbc()
                .queryForList("SELECT fence FROM " + tables.fenceCounters() + " WHERE key_debug = ?", Long.class, key)
                .stream()
                .findFirst()
                .orElse(0L);
    }

    @Override
    public @Nullable String address() {
        return JdbcServer.addressIn(server().login().url(), 5432);
    }

    @Override
    public boolean endSession() {
        return jdbc().queryForList(
                        "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE usename ="
                                + " current_user AND application_name LIKE '%' || ? ORDER BY random() LIMIT 1) victim",
                        Boolean.class, name())
                .contains(Boolean.TRUE);
    }

    @Override
    public String leftovers() {
        return schema ? "the schema " + name() : "the tables, functions and types whose names begin with " + name();
    }

    @Override
    public void close() {
        if (schema) {
            jdbc().execute("DROP SCHEMA IF EXISTS " + name() + " CASCADE");
            return;
        }
        dropData();
        for (String drop : server().texts(
                        "SELECT format('DROP ROUTINE %s', p.oid::regprocedure) FROM pg_proc p WHERE p.proname LIKE ?"
                                + " AND p.pronamespace = current_schema()::regnamespace",
                        name() + "\\_%")) {
            jdbc().execute(drop);
        }
        jdbc().execute("DROP TYPE IF EXISTS " + tables.locks() + "_answer");
        for (String table : List.of(tables.locks(), tables.shared(), tables.waiters(), tables.fenceCounters())) {
            jdbc().execute("DROP TABLE IF EXISTS " + table);
        }
    }
}
