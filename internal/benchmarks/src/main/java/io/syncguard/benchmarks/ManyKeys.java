package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A million distinct keys: counts the remaining rows, and compares pairs of acquire and release per second with those
 * on a database in which no key was ever locked, in interleaved rounds.
 *
 * <p>One key in a hundred gets a ttl of a millisecond and is never released: only the sweeper deletes it.
 *
 * <p>Arguments: keys (1000000), rounds (5), seconds per measurement (4). Starts a PostgreSQL with durable settings.
 */
public final class ManyKeys {

    private static final int THREADS = 16;

    private final LockManager locks;
    private final JdbcTemplate jdbc;
    private final AtomicLong next = new AtomicLong();

    private ManyKeys(ConfigurableApplicationContext application) {
        this.locks = application.getBean(LockManager.class);
        this.jdbc = new JdbcTemplate(application.getBean(HikariDataSource.class));
    }

    /** Runs the measurement and prints the results. */
    public static void main(String[] args) throws Exception {
        long keys = args.length > 0 ? Long.parseLong(args[0]) : 1_000_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
        Duration duration = Duration.ofSeconds(args.length > 2 ? Integer.parseInt(args[2]) : 4);
        try (EmbeddedPostgres server = Bench.startDurable()) {
            new JdbcTemplate(server.getPostgresDatabase()).execute("CREATE DATABASE untouched");
            try (ConfigurableApplicationContext full = Bench.application(server.getJdbcUrl("postgres", "postgres"));
                    ConfigurableApplicationContext empty =
                            Bench.application(server.getJdbcUrl("postgres", "untouched"))) {
                ManyKeys many = new ManyKeys(full);
                many.fill(keys);
                ManyKeys few = new ManyKeys(empty);
                compare("first grants of keys", many::neverSeen, few::neverSeen, rounds, duration);
                compare("keys seen before", () -> many.seen(keys), () -> few.seen(1000), rounds, duration);
                many.awaitSweep();
            }
        }
    }

    /** The next key to lock. */
    @FunctionalInterface
    private interface Keys {
        Pair next();
    }

    private record Pair(LockManager locks, String key) {

        void run() {
            locks.acquire(LockRequest.of(key)).close();
        }
    }

    private Pair neverSeen() {
        return new Pair(locks, "new-" + next.getAndIncrement());
    }

    private Pair seen(long among) {
        return new Pair(locks, "key-" + ThreadLocalRandom.current().nextLong(among));
    }

    private void fill(long keys) throws Exception {
        long began = System.nanoTime();
        long most = 0;
        while (next.get() < keys) {
            Bench.perSecond(THREADS, Duration.ofSeconds(1), (thread, count) -> lockOnce(next.getAndIncrement()));
            most = Math.max(most, count("syncguard_locks"));
        }
        System.out.printf(
                Locale.ROOT,
                "%d keys in %d s; leases at most %d, as looked at once a second%n",
                next.get(),
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began),
                most);
    }

    private void lockOnce(long number) {
        LockRequest request = LockRequest.of("key-" + number);
        if (number % 100 == 0) {
            locks.acquire(request.ttl(Duration.ofSeconds(1)).noHeartbeat());
        } else {
            locks.acquire(request).close();
        }
    }

    private static void compare(String what, Keys full, Keys empty, int rounds, Duration duration) throws Exception {
        List<Double> onFull = new ArrayList<>();
        List<Double> onEmpty = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round <= rounds; round++) {
            double fullPairs = Bench.perSecond(
                    THREADS, duration, (thread, count) -> full.next().run());
            double emptyPairs = Bench.perSecond(
                    THREADS, duration, (thread, count) -> empty.next().run());
            if (round > 0) { // The first round only warms up.
                onFull.add(fullPairs);
                onEmpty.add(emptyPairs);
                ratios.add(fullPairs / emptyPairs);
            }
        }
        System.out.println(what);
        System.out.println(Bench.line("  pairs/s, full table", onFull));
        System.out.println(Bench.line("  pairs/s, empty table", onEmpty));
        System.out.println(Bench.line("  ratio", ratios));
    }

    /** Waits for the next sweep to end, a minute and a half at most, and prints the remaining rows. */
    private void awaitSweep() throws InterruptedException {
        for (int second = 0; second < 90 && count("syncguard_locks") > 0; second++) {
            TimeUnit.SECONDS.sleep(1);
        }
        System.out.printf(
                Locale.ROOT,
                "after the last sweep: leases %d, bytes of their table and indexes %d, counters %d,"
                        + " of them for the keys %d%n",
                count("syncguard_locks"),
                jdbc.queryForObject("SELECT pg_total_relation_size('syncguard_locks')", Long.class),
                count("syncguard_fence_counters"),
                count("syncguard_fence_counters WHERE key_debug LIKE 'key-%' AND fence > 0"));
    }

    private long count(String rows) {
        Long count = jdbc.queryForObject("SELECT count(*) FROM " + rows, Long.class);
        return count == null ? 0 : count;
    }
}
