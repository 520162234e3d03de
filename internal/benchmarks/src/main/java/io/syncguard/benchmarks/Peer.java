package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.jdbc.core.JdbcTemplate;

/** The candidates that are measured side by side. */
enum Peer {
    /** SyncGuard, which creates its tables and functions itself. */
    SYNCGUARD("SyncGuard", database -> {}, url -> new SyncGuard(Bench.application(url))),

    SHEDLOCK(
            "ShedLock", database -> new JdbcTemplate(database).execute(ShedLock.TABLE), url -> new ShedLock(pool(url))),

    SPRING_INTEGRATION(
            "Spring Integration",
            SpringIntegration::makeTables,
            url -> SpringIntegration.onDatabase(pool(url), locks -> {})),

    /** Differs from the one above only while it waits. */
    SPRING_INTEGRATION_1_MS(
            "Spring Integration, 1 ms idle",
            SpringIntegration::makeTables,
            url -> SpringIntegration.onDatabase(pool(url), locks -> locks.setIdleBetweenTries(Duration.ofMillis(1)))),

    ADVISORY_LOCKS("session-level advisory locks", database -> {}, url -> new AdvisoryLocks(pool(url))),

    RAW(
            "raw statements",
            database -> new JdbcTemplate(database).execute(RawStatements.TABLE),
            url -> new RawStatements(pool(url))),

    EMPTY("empty statements", database -> {}, url -> new EmptyStatements(pool(url))),

    PERMITS("SyncGuard", database -> {}, url -> new SyncGuardPermits(Bench.application(url))),

    PERMIT_ROWS("a row per permit", Peer::makePermitRows, url -> new PermitRows(pool(url), Duration.ofMillis(10))),

    /** Differs from the one above only while it waits. */
    PERMIT_ROWS_1_MS(
            "a row per permit, 1 ms idle",
            Peer::makePermitRows,
            url -> new PermitRows(pool(url), Duration.ofMillis(1))),

    SYNCGUARD_REDIS("SyncGuard", url -> new SyncGuard(Bench.redisApplication(url))),

    REDISSON("Redisson", RedissonLocks::open),

    SPRING_INTEGRATION_SPIN("Spring Integration, spin", url -> SpringIntegration.onRedis(url, RedisLockType.SPIN_LOCK)),

    SPRING_INTEGRATION_PUB_SUB(
            "Spring Integration, pub/sub", url -> SpringIntegration.onRedis(url, RedisLockType.PUB_SUB_LOCK)),

    EMPTY_SCRIPTS("empty scripts", EmptyScripts::new),

    PERMITS_REDIS("SyncGuard", url -> new SyncGuardPermits(Bench.redisApplication(url))),

    REDISSON_PERMITS("Redisson, lease time", url -> new RedissonPermits(url, true)),

    REDISSON_PERMITS_WITHOUT_END("Redisson, no lease time", url -> new RedissonPermits(url, false)),

    SYNCGUARD_MARIADB(Store.MARIADB, "SyncGuard", database -> {}, url -> new SyncGuard(Bench.application(url))),

    SHEDLOCK_MARIADB(
            Store.MARIADB,
            "ShedLock",
            database -> new JdbcTemplate(database).execute(ShedLock.TABLE),
            url -> new ShedLock(pool(url))),

    SPRING_INTEGRATION_MARIADB(
            Store.MARIADB,
            "Spring Integration",
            SpringIntegration::makeTablesOfMariaDb,
            url -> SpringIntegration.onDatabase(pool(url), locks -> {}));

    private static final Set<Peer> WITHOUT_WAITING = EnumSet.of(SHEDLOCK, RAW, EMPTY, EMPTY_SCRIPTS, SHEDLOCK_MARIADB);

    private static final Set<Peer> WITH_PERMITS = EnumSet.of(
            PERMITS, PERMIT_ROWS, PERMIT_ROWS_1_MS, PERMITS_REDIS, REDISSON_PERMITS, REDISSON_PERMITS_WITHOUT_END);

    /**
     * The maximum pool size of each candidate on PostgreSQL and MariaDB. SyncGuard has its own default, 8.
     */
    private static final int CONNECTIONS = 16;

    private final Store store;
    private final String label;
    private final Consumer<DataSource> preparation;
    private final Function<String, Contender> opening;

    /** A candidate in PostgreSQL. */
    Peer(String label, Consumer<DataSource> preparation, Function<String, Contender> opening) {
        this(Store.POSTGRES, label, preparation, opening);
    }

    Peer(Store store, String label, Consumer<DataSource> preparation, Function<String, Contender> opening) {
        this.store = store;
        this.label = label;
        this.preparation = preparation;
        this.opening = opening;
    }

    /** A candidate in Redis, which needs no preparation. */
    Peer(String label, Function<String, Contender> opening) {
        this(Store.REDIS, label, database -> {}, opening);
    }

    /** The candidates of a store, for measurements without waiters. */
    static List<Peer> of(Store store) {
        return locksIn(store).filter(peer -> peer != SPRING_INTEGRATION_1_MS).toList();
    }

    /** The candidates that can wait for a key. */
    static List<Peer> waitingIn(Store store) {
        return locksIn(store).filter(peer -> !WITHOUT_WAITING.contains(peer)).toList();
    }

    /** The candidates that support permits. */
    static List<Peer> withPermits(Store store) {
        return in(store).filter(WITH_PERMITS::contains).toList();
    }

    private static Stream<Peer> locksIn(Store store) {
        return in(store).filter(peer -> !WITH_PERMITS.contains(peer));
    }

    private static Stream<Peer> in(Store store) {
        return Stream.of(values()).filter(peer -> peer.store == store);
    }

    String label() {
        return label;
    }

    /** The name of its database. */
    String database() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Creates the candidate's tables in an empty database. */
    void prepare(DataSource database) {
        preparation.accept(database);
    }

    /** Its number among the candidates of its store. */
    int number() {
        return in(store).toList().indexOf(this);
    }

    /** Opens a new instance, as another process would. */
    Contender open(String url) {
        return opening.apply(url);
    }

    private static void makePermitRows(DataSource database) {
        new JdbcTemplate(database).execute(PermitRows.TABLE);
    }

    /** Creates a pool with open connections, so that no measurement includes their opening. */
    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        HikariDataSource pool = new HikariDataSource(config);
        while (pool.getHikariPoolMXBean().getTotalConnections() < CONNECTIONS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        return pool;
    }
}
