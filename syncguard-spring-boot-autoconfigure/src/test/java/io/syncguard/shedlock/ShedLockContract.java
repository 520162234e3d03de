package io.syncguard.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.core.ContractStore;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The tests that ShedLock publishes for its providers, the fuzz test among them. A
 * {@link io.syncguard.core.ContractStoreProvider} provides the store, empty for each test.
 */
public abstract class ShedLockContract extends AbstractExtensibleLockProviderIntegrationTest {

    /** Without a shutdown timeout, because the suite leaves locks behind. */
    private static final EngineSettings SETTINGS = new EngineSettings(
            "test",
            Duration.ofSeconds(30),
            Duration.ZERO,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            Duration.ZERO,
            Duration.ZERO,
            Map.of());

    private LockEngine engine;

    @BeforeEach
    void openEngine(ContractStore empty) {
        engine = new LockEngine(empty.newBackend(), SETTINGS, TransactionBoundary.NONE, List.of());
    }

    @AfterEach
    void closeEngine() {
        engine.close();
    }

    @Override
    protected final ExtensibleLockProvider getLockProvider() {
        return new SyncGuardLockProvider(engine);
    }

    @Override
    protected final void assertLocked(String name) {
        assertThat(engine.isLocked(name)).isTrue();
    }

    /**
     * Waits for the release of an ended lock, which runs in the background, long before the tolerance of a second is
     * over.
     */
    @Override
    protected final void assertUnlocked(String name) {
        await().atMost(Duration.ofMillis(400)).until(() -> !engine.isLocked(name));
    }

    /** The 50 ms of the suite may be over on a slow machine before the first assertion. */
    @Test
    @Override
    public void shouldTimeout() throws InterruptedException {
        doTestTimeout(Duration.ofMillis(500));
    }

    /** The 2 ms of the suite may be over before the grant arrives, which is an error here. */
    @Test
    @Override
    public void shouldNotBeAbleToExtendExpiredLock() {
        SimpleLock lock = getLockProvider()
                .lock(lockConfig(LOCK_NAME1, Duration.ofMillis(300), Duration.ZERO))
                .orElseThrow();
        await().atMost(Duration.ofSeconds(1)).until(() -> !engine.isLocked(LOCK_NAME1));

        Optional<SimpleLock> extended = lock.extend(Duration.ofSeconds(10), Duration.ZERO);

        assertThat(extended).isEmpty();
        assertUnlocked(LOCK_NAME1);
    }
}
