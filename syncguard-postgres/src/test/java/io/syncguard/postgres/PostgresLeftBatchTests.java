package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockException;
import io.syncguard.LockRequest;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A batch that departs after all its callers have left. */
class PostgresLeftBatchTests {

    private static final PostgresSettings SETTINGS = new PostgresSettings(
            PostgresTables.DEFAULT,
            Duration.ofSeconds(60),
            PostgresSettings.WAITER_TTL,
            Duration.ZERO,
            false,
            FenceSettings.from(FenceSource.COUNTER));

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    private final HeldBatches connections = new HeldBatches();
    private final InterceptedBackend backend =
            new InterceptedBackend(PostgresBatching.ALWAYS.backend(connections, connections, null, SETTINGS, () -> {}));
    private final LockEngine engine =
            new LockEngine(backend, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());

    @Test
    void an_engine_that_has_stopped_holds_no_lock_that_it_is_granted_late() throws Exception {
        leaveBeforeBatch(LockRequest.of("free"));
        closeBeforeBatch();

        assertThat(store.jdbc().queryForList("SELECT key FROM syncguard_locks WHERE key = 'free'"))
                .isEmpty();
        assertThat(store.storedFence("free")).as("the batch was sent").isEqualTo(1);
    }

    @Test
    void an_engine_that_has_stopped_leaves_a_queue_that_it_enters_late() throws Exception {
        long arrivals = arrivals();
        try (StoreCalls others = store.newBackend()) {
            others.acquire(Requests.exclusive("held", "theirs", Duration.ofMinutes(1), "test"));
            leaveBeforeBatch(LockRequest.of("held").shared());
            closeBeforeBatch();
        }

        assertThat(arrivals()).as("the batch was sent").isGreaterThan(arrivals);
        assertThat(store.jdbc().queryForList("SELECT key FROM syncguard_locks_waiters"))
                .isEmpty();
    }

    private static long arrivals() {
        return store.jdbc()
                .queryForObject(
                        "SELECT last_value + is_called::INT FROM syncguard_locks_waiters_arrival_seq", Long.class);
    }

    private void leaveBeforeBatch(LockRequest request) throws InterruptedException {
        Thread caller = new Thread(
                () -> assertThatThrownBy(() -> engine.acquire(request)).isInstanceOf(LockException.class));
        caller.start();
        connections.arrived.await();
        caller.interrupt();
        caller.join();
    }

    private void closeBeforeBatch() throws Exception {
        FutureTask<Void> closing = inAnotherThread(() -> {
            engine.close();
            return null;
        });
        eventually().until(() -> backend.closed);
        connections.goOn.countDown();
        got(closing);
        connections.batch.join();
    }

    /** Gives the thread of the batcher a connection when the test says so. */
    private static final class HeldBatches extends DelegatingDataSource {

        private final CountDownLatch arrived = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private volatile Thread batch;

        HeldBatches() {
            super(PostgresServer.dataSource(store.url()));
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (Thread.currentThread().getName().startsWith("syncguard-acquire-batch")) {
                batch = Thread.currentThread();
                arrived.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException ex) {
                    throw new SQLException(ex);
                }
            }
            return super.getConnection();
        }
    }
}
