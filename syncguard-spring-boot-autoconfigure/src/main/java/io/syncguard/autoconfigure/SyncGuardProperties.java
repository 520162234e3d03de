package io.syncguard.autoconfigure;

import io.syncguard.CommitGuard;
import io.syncguard.LockSettings;
import io.syncguard.LockSetupException;
import io.syncguard.OneLine;
import io.syncguard.actuate.SyncGuardConsoleEndpoint;
import io.syncguard.aop.CallLimits;
import io.syncguard.core.EngineSettings;
import io.syncguard.fencing.FenceGuard;
import io.syncguard.portable.PortableTables;
import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.core.Ordered;

/**
 * {@code syncguard.*}.
 *
 * @param enabled Whether locks are configured. Without them, annotated methods and templates run their bodies unlocked,
 *     each instance leads its elections, and LockAdmin finds nothing.
 * @param backend Store of the locks. Of two, the first is the primary one, and the other is selected by its name. If
 *     not set, the database of the DataSource (postgres for PostgreSQL, jdbc for others), else redis.
 * @param ttl How long a lock lives without an extension, unless the request sets its own ttl. From 1 ms to 365 days.
 * @param waitTime How long a caller waits for a lock, unless the request sets its own wait time, and for the first
 *     decision of an election after the start. Zero is a single attempt; at most 365 days.
 * @param owner Label of this process in the lock table; it decides nothing.
 * @param commitGuard Which transactions commit only while their locks are held: those on the database of the locks, all
 *     (others are refused), or none. A request may set its own.
 * @param shutdownTimeout How long a stopping application waits for running bodies before it releases their locks. At
 *     most 365 days.
 * @param leakDetectionThreshold How long a lock may be held while no body runs under it, before the log has a warning
 *     with the place of its acquisition. Zero turns it off; at most 365 days.
 * @param fences Source of the fences: a counter for each key, or such a counter that is never behind the server's
 *     clock. All processes of a store need the same one. If not set, counter in databases and clock in Redis.
 * @param fenceRetention How long a fence counter is idle before it is deleted, with fences by the clock. Longer than
 *     any step of the server's clock; from 1 to 3650 days.
 * @param aop Settings of the annotation.
 * @param reactive Locks of publishers and of suspending functions.
 * @param postgres Locks in PostgreSQL.
 * @param jdbc Locks in tables of another database.
 * @param redis Locks in Redis.
 * @param fencing Fences at the resources that locks protect.
 * @param web Locks behind controllers.
 * @param console The page for operators.
 * @param leader Leadership.
 * @param shedlock ShedLock on these locks.
 * @param integration Spring Integration on these locks.
 */
@ConfigurationProperties("syncguard")
record SyncGuardProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue List<String> backend,
        @DefaultValue("30s") Duration ttl,
        @DefaultValue("5s") Duration waitTime,
        @Nullable String owner,
        @DefaultValue("auto") CommitGuard commitGuard,
        @DefaultValue("10s") Duration shutdownTimeout,
        @DefaultValue("0s") Duration leakDetectionThreshold,
        @Nullable FenceSource fences,
        @DefaultValue("7d") Duration fenceRetention,
        @DefaultValue Aop aop,
        @DefaultValue Reactive reactive,
        @DefaultValue Postgres postgres,
        @DefaultValue Jdbc jdbc,
        @DefaultValue Redis redis,
        @DefaultValue Fencing fencing,
        @DefaultValue Web web,
        @DefaultValue Console console,
        @DefaultValue Leader leader,
        @DefaultValue Shedlock shedlock,
        @DefaultValue Integration integration) {

    EngineSettings engineSettings(String label, Map<String, LockSettings> locks) {
        return new EngineSettings(
                label,
                ttl,
                waitTime,
                EngineSettings.FIRST_RETRY,
                EngineSettings.LONGEST_RETRY,
                shutdownTimeout,
                leakDetectionThreshold,
                locks);
    }

    CallLimits callLimits(LocksProperties locks) {
        return new CallLimits(waitTime, aop.maxKeys(), ttl, locks.settings());
    }

    /**
     * Refuses settings that are read after the store was opened, so that a start which fails for them creates no
     * tables.
     */
    void check() {
        engineSettings(owner == null ? "" : owner, Map.of());
        aop.check();
        leader.elections().forEach((name, election) -> election.settings(name));
        console.links();
        requireResolved("syncguard.redis.key-prefix", redis.keyPrefix());
        if (backend.stream().map(Backend::new).anyMatch(new Backend(RedisLockAutoConfiguration.NAME)::equals)) {
            redis.settings(fencesOr(FenceSource.CLOCK));
        }
    }

    /**
     * Refuses an unresolved placeholder. Spring Boot leaves it as it is, so that all tenants would share their keys.
     */
    private static void requireResolved(String property, String value) {
        if (value.contains("${")) {
            throw LockSetupException.invalid(
                    property + " is '" + OneLine.of(value) + "', and no property resolves its placeholder",
                    "Define the property in the placeholder",
                    "Correct " + property);
        }
    }

    PostgresScript postgresScript() {
        return new PostgresScript(
                new PostgresTables(postgres.locksTable(), postgres.fenceCountersTable()),
                fencesOr(FenceSource.COUNTER).source());
    }

    /** Returns the fence settings of a store whose default is this source. */
    FenceSettings fencesOr(FenceSource source) {
        return new FenceSettings(fences == null ? source : fences, fenceRetention);
    }

    /**
     * {@code syncguard.aop.*}.
     *
     * @param order Order of the advisor. Smaller than the order of transactions, so that locks are outside of them.
     * @param maxKeys Maximum number of keys that a call may lock. From 1 to 1000.
     */
    record Aop(
            @DefaultValue("" + DEFAULT_ORDER) int order,
            @DefaultValue("100") int maxKeys) {

        /** A hundred before the order that transactions have by default. */
        static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

        private static final int LARGEST_MAX_KEYS = 1000;

        void check() {
            if (maxKeys < 1 || maxKeys > LARGEST_MAX_KEYS) {
                throw LockSetupException.invalid(
                        "syncguard.aop.max-keys is " + maxKeys + ", but has to be between 1 and " + LARGEST_MAX_KEYS,
                        "Correct syncguard.aop.max-keys");
            }
        }
    }

    /**
     * {@code syncguard.reactive.*}.
     *
     * @param maxWaiting Maximum number of subscriptions that wait for a lock at a time and hold no other. Further ones
     *     fail at once. At least 1; each of them blocks a thread of the library, a virtual one from Java 21 on.
     */
    record Reactive(@DefaultValue("256") int maxWaiting) {

        Reactive {
            if (maxWaiting < 1) {
                throw LockSetupException.invalid(
                        "syncguard.reactive.max-waiting is " + maxWaiting + ", but has to be at least 1",
                        "Correct syncguard.reactive.max-waiting");
            }
        }
    }

    /**
     * {@code syncguard.postgres.*}.
     *
     * @param locksTable Table of the locks, with an optional schema in front. A plain identifier of at most 48 bytes
     *     and no reserved word; the functions are named after it.
     * @param fenceCountersTable Table of the fence counters, with an optional schema in front. Never delete rows from
     *     it.
     * @param schemaManagement Who creates the tables and functions.
     * @param schemaScript File to which the start writes the script that creates the tables and functions, with the
     *     names of the tables: for an administrator who runs it.
     * @param poolSize Maximum number of connections for the requests of callers, in addition to those of the library's
     *     own threads. At least 1; not taken from the application's pool.
     * @param networkTimeout How long an operation waits, half for a connection and half for the answer. From 500 ms to
     *     10 minutes; shorter for a lock with a short ttl.
     * @param wakeUps Whether LISTEN and NOTIFY wake waiters, on one more connection. Turn it off behind a proxy that
     *     pools transactions; waiters then poll.
     * @param cleanupInterval Interval between deletions of lapsed leases that no new lease has replaced. At least 1
     *     minute; 0 turns it off.
     * @param cleanupInIsLocked Whether a check of a key deletes its lapsed lease, after the answer.
     */
    record Postgres(
            @DefaultValue("syncguard_locks") String locksTable,
            @DefaultValue("syncguard_fence_counters") String fenceCountersTable,
            @DefaultValue("auto") SchemaManagement schemaManagement,
            @Nullable File schemaScript,
            @DefaultValue("8") int poolSize,
            @DefaultValue("5s") Duration networkTimeout,
            @DefaultValue("true") @Name("notify") boolean wakeUps,
            @DefaultValue("1m") Duration cleanupInterval,
            @DefaultValue("false") boolean cleanupInIsLocked) {}

    /**
     * {@code syncguard.jdbc.*}.
     *
     * @param tablePrefix Beginning of the names of the three tables, with an optional schema in front. At most 40
     *     letters, digits and underscores.
     * @param schemaManagement Who creates the tables.
     * @param schemaScript File to which the start writes the script that creates the tables: for an administrator who
     *     runs it.
     * @param poolSize Maximum number of connections for the requests of callers, in addition to those of the library's
     *     own threads. At least 1; not taken from the application's pool.
     * @param networkTimeout How long an operation waits, half for a connection and half for the answer. From 500 ms to
     *     10 minutes; shorter for a lock with a short ttl.
     * @param cleanupInterval Interval between deletions of lapsed leases that no new lease has replaced. At least 1
     *     minute; 0 turns it off.
     */
    record Jdbc(
            @DefaultValue(PortableTables.DEFAULT_PREFIX) String tablePrefix,
            @DefaultValue("auto") SchemaManagement schemaManagement,
            @Nullable File schemaScript,
            @DefaultValue("8") int poolSize,
            @DefaultValue("5s") Duration networkTimeout,
            @DefaultValue("1m") Duration cleanupInterval) {

        PortableTables tables() {
            requireResolved("syncguard.jdbc.table-prefix", tablePrefix);
            return PortableTables.named(tablePrefix);
        }
    }

    /**
     * {@code syncguard.redis.*}.
     *
     * @param keyPrefix Prefix of every key. In a cluster it has to contain a hash tag, such as the default.
     * @param shards Number of hash tags over which the keys are spread, so that the masters of a cluster share the
     *     locks of one prefix. From 1 to 1024; all instances need the same number, and it is stored with the keys.
     * @param networkTimeout How long an operation waits for the answer. From 100 ms to 10 minutes; shorter for a lock
     *     with a short ttl.
     */
    record Redis(
            @DefaultValue(RedisSettings.KEY_PREFIX) String keyPrefix,
            @DefaultValue("1") int shards,
            @DefaultValue("2s") Duration networkTimeout) {

        RedisSettings settings(FenceSettings fences) {
            return new RedisSettings(keyPrefix, networkTimeout, RedisSettings.WAITER_TTL, shards, fences);
        }
    }

    /**
     * {@code syncguard.fencing.*}.
     *
     * @param enabled Whether there is a FenceGuard for the primary DataSource, and its table. Does not depend on locks.
     * @param table Table with the largest fence that each resource has seen, with an optional schema in front. Never
     *     delete rows from it.
     * @param schemaManagement Who creates the table.
     */
    record Fencing(
            @DefaultValue("false") boolean enabled,
            @DefaultValue(FenceGuard.DEFAULT_TABLE) String table,
            @DefaultValue("auto") SchemaManagement schemaManagement) {}

    /**
     * {@code syncguard.web.*}.
     *
     * @param problemDetails Whether lock errors of controllers are answered with problem details: 409 for contention,
     *     503 if their server is unavailable, 500 if a lock was lost.
     */
    record Web(@DefaultValue("true") boolean problemDetails) {}

    /**
     * {@code syncguard.console.*}.
     *
     * @param enabled Whether the actuator has the page syncguardconsole, if it and the endpoint syncguard are exposed.
     * @param ownerLink Address of the logs of a process, with {owner} in place of its label. The page links owners to
     *     it. If not set, it links none.
     * @param traceLink Address of a trace, with {traceId} in place of its id.
     */
    record Console(
            @DefaultValue("false") boolean enabled,
            @Nullable String ownerLink,
            @Nullable String traceLink) {

        SyncGuardConsoleEndpoint.Links links() {
            return new SyncGuardConsoleEndpoint.Links(
                    link("syncguard.console.owner-link", ownerLink, "{owner}"),
                    link("syncguard.console.trace-link", traceLink, "{traceId}"));
        }

        private static String link(String property, @Nullable String link, String placeholder) {
            if (link == null || link.isEmpty()) {
                return "";
            }
            if (!link.matches("(?i)https?://.+") || !link.contains(placeholder)) {
                throw LockSetupException.invalid(
                        property + " is '" + OneLine.of(link) + "', which is no address with " + placeholder,
                        "Begin it with https:// or http://, and write " + placeholder + " in it",
                        "Remove " + property);
            }
            return link;
        }
    }

    /**
     * {@code syncguard.shedlock.*}.
     *
     * @param enabled Whether there is a LockProvider for ShedLock on these locks.
     */
    record Shedlock(@DefaultValue("false") boolean enabled) {}

    /**
     * {@code syncguard.integration.*}.
     *
     * @param enabled Whether there is a LockRegistry for Spring Integration on these locks.
     */
    record Integration(@DefaultValue("false") boolean enabled) {}

    /**
     * {@code syncguard.leader.*}.
     *
     * @param elections Elections in which this process may take part, by their names.
     */
    record Leader(@DefaultValue Map<String, ElectionProperties> elections) {}
}
