package io.syncguard.verification.commits;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.CommitGuard;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.spi.LockBackend;
import io.syncguard.transaction.SpringTransactions;
import io.syncguard.transaction.TransactionManagerPostProcessor;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The rounds of one process. A round locks a key, writes one effect in a transaction, commits, releases. Thread-safe.
 *
 * <p>An effect has the fence of its lock and the version of the key. The same transaction increases the version, so the
 * versions follow the order of the commits.
 */
final class CommitRounds implements AutoCloseable {

    static final String TABLES = """
            CREATE TABLE head (key TEXT PRIMARY KEY, version BIGINT NOT NULL);
            CREATE TABLE effect (
                attempt TEXT PRIMARY KEY, key TEXT NOT NULL, version BIGINT NOT NULL, fence BIGINT NOT NULL);
            """;

    private final ThreadLocal<Consumer<Point>> onPin = ThreadLocal.withInitial(() -> point -> {});
    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final TransactionTemplate transaction;
    private final LockEngine engine;
    private final LockTemplate locks;

    /** @param threads how many threads may share it */
    CommitRounds(String url, CommitGuard guard, int threads) {
        dataSource.setJdbcUrl(url);
        dataSource.setMaximumPoolSize(threads);
        dataSource.setConnectionTimeout(Duration.ofMinutes(1).toMillis());
        JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
        new TransactionManagerPostProcessor().postProcessAfterInitialization(manager, "transactionManager");
        // Added after the guard, so it runs between pin and commit.
        manager.addListener(new TransactionExecutionListener() {
            @Override
            public void beforeCommit(TransactionExecution committing) {
                onPin.get().accept(Point.PINNED);
            }
        });
        transaction = new TransactionTemplate(manager);
        LockBackend backend = ApplicationBackend.on(url, 8, Duration.ofSeconds(20));
        engine = new LockEngine(
                backend,
                DefaultSettings.of("commits"),
                new SpringTransactions(backend.info().name(), backend.pins(), guard),
                List.of());
        locks = new LockTemplate(engine);
    }

    /**
     * Runs one round.
     *
     * @param attempt names the effect
     * @param at called at each point, on this thread
     */
    void run(LockRequest request, String attempt, Consumer<Point> at) {
        onPin.set(at);
        locks.executeWithoutResult(request, lock -> {
            at.accept(Point.ACQUIRED);
            transaction.executeWithoutResult(status -> {
                at.accept(Point.BEGUN);
                write(lock, attempt);
                at.accept(Point.WRITTEN);
            });
            at.accept(Point.COMMITTED);
        });
        at.accept(Point.RELEASED);
    }

    /**
     * Runs one round whose transaction begins before the lock. Once it has written, it continues after a loss.
     *
     * @param attempt names the effect
     * @param at called at each point, on this thread
     */
    void runInside(LockRequest request, String attempt, Consumer<Point> at) {
        onPin.set(at);
        transaction.executeWithoutResult(status -> {
            at.accept(Point.BEGUN);
            boolean[] written = new boolean[1];
            try {
                locks.executeWithoutResult(request, lock -> {
                    at.accept(Point.ACQUIRED);
                    write(lock, attempt);
                    written[0] = true;
                    at.accept(Point.WRITTEN);
                });
            } catch (LockLostException ex) {
                if (!written[0]) {
                    throw ex;
                }
                // The interrupt of the loss must not fail the commit: the guard has to refuse it.
                Thread.interrupted();
            }
        });
        at.accept(Point.COMMITTED);
        at.accept(Point.RELEASED);
    }

    @Override
    public void close() {
        engine.close();
        dataSource.close();
    }

    private void write(LockHandle lock, String attempt) {
        jdbc.update("""
                WITH next AS (
                    INSERT INTO head VALUES (?, 1)
                    ON CONFLICT (key) DO UPDATE SET version = head.version + 1
                    RETURNING version
                )
                INSERT INTO effect SELECT ?, ?, next.version, ? FROM next
                """, lock.key(), attempt, lock.key(), lock.fence().value());
    }
}
