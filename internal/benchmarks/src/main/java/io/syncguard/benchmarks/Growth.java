package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Compares calls per second on grown and on small tables, in interleaved rounds: after a million counters, a hundred
 * thousand leases, ten thousand queue entries, or a million earlier pairs, and beside a transaction that is open for
 * the whole run.
 *
 * <p>Arguments: rounds (5), seconds per measurement (4), pairs before (1000000). Starts a PostgreSQL with durable
 * settings and autovacuum as shipped.
 */
public final class Growth {

    private static final int THREADS = 16;

    /** The number of keys with counters, and of keys with leases, in every database. */
    private static final int KEYS = 1000;

    private static final String LATER = "4102444800000";

    private static final String COUNTERS = """
            INSERT INTO syncguard_fence_counters (fence_key, fence, key_debug)
            SELECT 'fence:%1$s-' || i, 1, '%1$s-' || i FROM generate_series(0, %2$s - 1) i
            """;

    private static final String LEASES = """
            INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
            SELECT '%1$s-' || i, 'lease of %1$s-' || i, LATER, 0, '000000000000001', '%1$s-' || i, 'growth'
            FROM generate_series(0, %2$s - 1) i
            """.replace("LATER", LATER);

    private static final String ENTRIES = """
            INSERT INTO syncguard_locks_waiters
                (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, waiter, owner)
            SELECT 'entry ' || i, 'held-' || i %% %s, 0, false, LATER, 5000, false, i, 'growth'
            FROM generate_series(0, 9999) i
            """.replace("LATER", LATER);

    private final EmbeddedPostgres server;
    private final Rounds rounds;
    private final Report report = new Report(System.out);
    private final Tables small;

    private Growth(EmbeddedPostgres server, Rounds rounds) {
        this.server = server;
        this.rounds = rounds;
        this.small = new Tables(server, "small");
    }

    /** Runs the comparisons and prints the results. */
    public static void main(String[] args) throws Exception {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        Duration duration = Duration.ofSeconds(args.length > 1 ? Integer.parseInt(args[1]) : 4);
        long pairs = args.length > 2 ? Long.parseLong(args[2]) : 1_000_000;
        try (EmbeddedPostgres server = Bench.startDurable()) {
            new Growth(server, new Rounds(count, duration, true)).run(pairs);
        }
    }

    private void run(long pairs) throws Exception {
        try (small) {
            compare("a million counters", "counters", tables -> tables.fill(COUNTERS.formatted("key", 1_000_000)));
            compare("a hundred thousand leases", "leases", tables -> {
                tables.fill(COUNTERS.formatted("key", 100_000));
                tables.fill(LEASES.formatted("key", 100_000));
            });
            compare("ten thousand queue entries", "entries", tables -> tables.fill(ENTRIES.formatted(KEYS)));
            compare(pairs + " pairs before", "pairs", tables -> tables.repeatPairs(pairs));
            compareWithOpenTransaction();
        }
    }

    /** Fills the tables. */
    @FunctionalInterface
    private interface Filling {
        void fill(Tables tables) throws Exception;
    }

    private void compare(String what, String database, Filling filling) throws Exception {
        try (Tables grown = new Tables(server, database)) {
            filling.fill(grown);
            compare(what, grown);
        }
    }

    private void compareWithOpenTransaction() throws Exception {
        // A separate server, because the transaction keeps dead rows in all databases of its server.
        try (EmbeddedPostgres other = Bench.startDurable();
                Tables grown = new Tables(other, "open");
                Connection open = other.getDatabase("postgres", "open").getConnection();
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            compare("a transaction open since the start", grown);
        }
    }

    private void compare(String what, Tables grown) throws Exception {
        compare(what + ": pairs/s on free keys that were locked before", grown, Tables::pair);
        compare(what + ": pairs/s on new keys", grown, Tables::pairOfNewKey);
        compare(what + ": waits of 1 ms in vain/s, with a queue entry each", grown, Tables::waitInVain);
    }

    private void compare(String what, Tables grown, Call call) throws Exception {
        Map<String, Callable<Double>> measurements = new LinkedHashMap<>();
        measurements.put("grown", () -> perSecond(grown, call));
        measurements.put("small", () -> perSecond(small, call));
        report.title(what);
        report.addWithRatios(rounds.interleave(measurements));
    }

    private double perSecond(Tables tables, Call call) throws Exception {
        return Bench.perSecond(THREADS, rounds.duration(), (thread, count) -> call.run(tables));
    }

    @FunctionalInterface
    private interface Call {
        void run(Tables tables);
    }

    /** A database of the server, and an application on it. */
    private final class Tables implements AutoCloseable {

        private final ConfigurableApplicationContext application;
        private final LockManager locks;
        private final JdbcTemplate jdbc;
        private final AtomicLong newKeys = new AtomicLong();

        Tables(EmbeddedPostgres server, String database) {
            new JdbcTemplate(server.getPostgresDatabase()).execute("CREATE DATABASE " + database);
            application = Bench.application(server.getJdbcUrl("postgres", database));
            locks = application.getBean(LockManager.class);
            jdbc = new JdbcTemplate(application.getBean(HikariDataSource.class));
            fill(COUNTERS.formatted("seen", KEYS));
            fill(COUNTERS.formatted("held", KEYS));
            fill(LEASES.formatted("held", KEYS));
        }

        void fill(String sql) {
            jdbc.execute(sql);
        }

        void repeatPairs(long count) throws Exception {
            AtomicLong left = new AtomicLong(count);
            while (left.get() > 0) {
                Bench.perSecond(THREADS, Duration.ofSeconds(1), (thread, done) -> {
                    left.decrementAndGet();
                    pair();
                });
            }
        }

        void pair() {
            locks.acquire(LockRequest.of("seen-" + random())).close();
        }

        void pairOfNewKey() {
            locks.acquire(LockRequest.of("new-" + newKeys.getAndIncrement())).close();
        }

        void waitInVain() {
            LockRequest request = LockRequest.of("held-" + random()).waitTime(Duration.ofMillis(1));
            try (LockHandle handle = locks.acquire(request)) {
                throw new IllegalStateException("The key has a lease, and a fence " + handle.fence() + " beside it");
            } catch (LockNotAcquiredException expected) {
                // The caller was in the queue and has left it.
            }
        }

        private int random() {
            return ThreadLocalRandom.current().nextInt(KEYS);
        }

        @Override
        public void close() {
            application.close();
        }
    }
}
