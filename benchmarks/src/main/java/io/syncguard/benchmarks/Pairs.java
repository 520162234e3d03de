package io.syncguard.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Acquire and release of free keys, each thread with its own, beside a raw {@code INSERT ... ON CONFLICT} and {@code DELETE}
 * on the same table: pairs per second in interleaved rounds, and disk flushes per pair.
 *
 * <p>Arguments: rounds (5), seconds per measurement (4). Starts a PostgreSQL with durable settings of its own, or uses that
 * of {@code -Dspring.datasource.url}.
 */
public final class Pairs {

    private static final int[] THREADS = {1, 16};

    private static final String INSERT = """
            INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
            VALUES (?, ?, 0, 0, '000000000000001', ?, 'raw')
            ON CONFLICT (key) DO NOTHING
            """;

    private static final String DELETE = "DELETE FROM syncguard_locks WHERE key = ? AND lock_id = ?";

    private final HikariDataSource raw;
    private final JdbcTemplate jdbc;
    private final LockTemplate locks;
    private final Duration duration;

    private Pairs(HikariDataSource raw, LockTemplate locks, Duration duration) {
        this.raw = raw;
        this.jdbc = new JdbcTemplate(raw);
        this.locks = locks;
        this.duration = duration;
    }

    /** Runs it and prints a table. */
    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        Duration duration = Duration.ofSeconds(args.length > 1 ? Integer.parseInt(args[1]) : 4);
        String url = System.getProperty("spring.datasource.url");
        try (EmbeddedPostgres embedded = url == null ? Bench.startDurable() : null) {
            run(embedded == null ? String.valueOf(url) : embedded.getJdbcUrl("postgres", "postgres"), rounds, duration);
        }
    }

    private static void run(String url, int rounds, Duration duration) throws Exception {
        try (ConfigurableApplicationContext context = Bench.application(url);
                HikariDataSource raw = new HikariDataSource()) {
            raw.setJdbcUrl(url);
            raw.setMaximumPoolSize(THREADS[THREADS.length - 1]);
            new Pairs(raw, context.getBean(LockTemplate.class), duration).measure(rounds);
        }
    }

    private void measure(int rounds) throws Exception {
        System.out.printf(
                "server: fsync=%s synchronous_commit=%s; %d rounds of %d s%n",
                setting("fsync"), setting("synchronous_commit"), rounds, duration.toSeconds());
        for (int threads : THREADS) {
            perSecond(threads, this::rawPair);
            perSecond(threads, this::lockPair);
            List<Double> rawPairs = new ArrayList<>();
            List<Double> lockPairs = new ArrayList<>();
            List<Double> ratios = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                rawPairs.add(perSecond(threads, this::rawPair));
                lockPairs.add(perSecond(threads, this::lockPair));
                ratios.add(lockPairs.get(round) / rawPairs.get(round));
            }
            System.out.printf("threads %d%n", threads);
            Bench.print("  raw pairs/s", rawPairs);
            Bench.print("  SyncGuard pairs/s", lockPairs);
            Bench.print("  ratio", ratios);
        }
        long flushes = flushes();
        long pairs = Math.round(perSecond(1, this::lockPair) * duration.toSeconds());
        System.out.printf(
                Locale.ROOT, "flushes per SyncGuard pair, 1 thread: %.2f%n", (double) (flushes() - flushes) / pairs);
    }

    private double perSecond(int threads, Pair pair) throws Exception {
        return Bench.perSecond(threads, duration, (thread, count) -> pair.run("key-" + thread + "-" + count % 50));
    }

    private void lockPair(String key) {
        locks.execute(LockRequest.of(key), lock -> key);
    }

    private void rawPair(String key) throws SQLException {
        try (Connection connection = raw.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, key);
            insert.setString(2, key);
            insert.setString(3, key);
            insert.executeUpdate();
        }
        try (Connection connection = raw.getConnection();
                PreparedStatement delete = connection.prepareStatement(DELETE)) {
            delete.setString(1, key);
            delete.setString(2, key);
            delete.executeUpdate();
        }
    }

    private String setting(String name) {
        return String.valueOf(jdbc.queryForObject("SELECT current_setting(?)", String.class, name));
    }

    private long flushes() throws InterruptedException {
        // Every process of the server reports its numbers once a second.
        TimeUnit.SECONDS.sleep(2);
        Long flushes = jdbc.queryForObject("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'", Long.class);
        return flushes == null ? 0 : flushes;
    }

    @FunctionalInterface
    private interface Pair {
        void run(String key) throws SQLException;
    }
}
