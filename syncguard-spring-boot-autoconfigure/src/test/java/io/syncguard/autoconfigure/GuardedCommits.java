package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/** An application that writes under locks, and another process that takes them over. */
final class GuardedCommits implements BeforeEachCallback, AfterEachCallback {

    final StockDatabase database = new StockDatabase();

    private final List<LockHandle> taken = new ArrayList<>();

    private LockEngine others;

    @Override
    public void beforeEach(ExtensionContext context) {
        database.beforeEach(context);
        others = new LockEngine(
                ApplicationBackend.on(database.url()),
                DefaultSettings.of("other"),
                TransactionBoundary.NONE,
                List.of());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        releaseTaken();
        others.close();
    }

    ApplicationContextRunner runner(String... properties) {
        return database.runner(properties);
    }

    void run(Consumer<ApplicationContext> test) {
        database.run(test);
    }

    /** Makes the server end a lease whose holder still believes to hold it, and takes the key. */
    LockHandle takeOver(LockRequest request) {
        endLease(request.key());
        LockHandle next = others.tryAcquire(request);
        assertThat(next).as("the key was taken over").isNotNull();
        taken.add(next);
        return next;
    }

    void releaseTaken() {
        taken.forEach(LockHandle::release);
        taken.clear();
    }

    LockEngine others() {
        return others;
    }

    /** Makes the server end a lease, and its holder detect that. */
    void lose(LockHandle lock) {
        endLease(lock.key());
        assertThat(lock.extend(Duration.ofSeconds(30))).isFalse();
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    /** Ends a lease at the server. Its holder does not know that yet. */
    void endLease(String key) {
        database.jdbc().update("UPDATE syncguard_locks SET expires_at_ms = 0 WHERE key = ?", key);
        database.jdbc().update("UPDATE syncguard_locks_shared SET expires_at_ms = 0 WHERE key = ?", key);
    }

    /** Runs an action between the pin and the commit of each transaction. */
    static void afterThePin(ApplicationContext application, Runnable action) {
        application
                .getBeanProvider(ConfigurableTransactionManager.class)
                .forEach(manager -> manager.addListener(new TransactionExecutionListener() {
                    @Override
                    public void beforeCommit(TransactionExecution transaction) {
                        action.run();
                    }
                }));
    }

    /** Whether somebody has a queue entry. */
    boolean isAwaited(String key) {
        return database.jdbc()
                .queryForObject(
                        "SELECT EXISTS (SELECT FROM syncguard_locks_waiters WHERE key = ?)", Boolean.class, key);
    }

    /** Whether a transaction has locked the row of the key. */
    boolean isPinned(String key) {
        return database.jdbc().queryForObject("""
                        SELECT EXISTS (
                            SELECT FROM (
                                SELECT key, xmax FROM syncguard_locks
                                UNION ALL SELECT key, xmax FROM syncguard_locks_shared
                            ) l WHERE l.key = ? AND l.xmax <> '0')
                        """, Boolean.class, key);
    }
}
