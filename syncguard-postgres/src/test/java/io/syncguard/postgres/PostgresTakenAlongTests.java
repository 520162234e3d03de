package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A release takes an acquire request along that waits behind another one, which waits for a row. */
class PostgresTakenAlongTests {

    private static final Duration TTL = Duration.ofMinutes(1);

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    private final ScarceConnections connections = new ScarceConnections();
    private final StoreCalls backend = new StoreCalls(new PostgresLockBackend(
            connections,
            connections,
            null,
            new PostgresSettings(
                    PostgresTables.DEFAULT,
                    Duration.ofSeconds(60),
                    PostgresSettings.WAITER_TTL,
                    Duration.ZERO,
                    false,
                    FenceSettings.from(FenceSource.COUNTER)),
            () -> {}));

    private final String holder = lockId(0);
    private FutureTask<AcquireResult> first;
    private FutureTask<AcquireResult> second;

    @AfterEach
    void end() {
        backend.close();
        store.jdbc().execute("TRUNCATE syncguard_locks, syncguard_locks_waiters");
    }

    @Test
    void both_are_answered() throws Exception {
        FutureTask<ReleaseResult> release;
        try (Connection row = lockedRow()) {
            sendTwo();
            release = inAnotherThread(() -> backend.release(new KeyedLockId("k", holder)));
            eventually().until(() -> statementsThatWait() == 2);
            assertThat(waits("queue_and_hand_over")).isTrue();
            row.commit();
        }

        assertThat(got(release).outcome()).isEqualTo(ReleaseResult.Outcome.RELEASED);
        assertThat(got(first)).isNotInstanceOf(AcquireResult.Refused.class);
        assertThat(got(second)).isInstanceOf(AcquireResult.Queued.class);
    }

    /** An interrupt closes the connection of a virtual thread. A thread in a group of this name looks like one. */
    @Test
    void a_release_on_a_virtual_thread_takes_nothing_along() throws Exception {
        FutureTask<ReleaseResult> release = new FutureTask<>(() -> backend.release(new KeyedLockId("k", holder)));
        try (Connection row = lockedRow()) {
            sendTwo();
            new Thread(new ThreadGroup("VirtualThreads"), release).start();
            eventually().until(() -> statementsThatWait() == 2);
            assertThat(waits("queue_and_hand_over")).isFalse();
            row.commit();
        }

        assertThat(got(release)).isEqualTo(ReleaseResult.RELEASED);
        got(first);
        got(second);
    }

    @Test
    void the_answer_carries_the_hand_over() {
        try (StoreCalls ours = store.newBackend()) {
            ours.connect(new IgnoredWakeUps());
            ours.acquire(Requests.exclusive("k", holder, TTL, "test"));
            AcquireRequest waiter = request(1);
            AcquireOptions options =
                    new AcquireOptions(LockMode.EXCLUSIVE, 0, waiter.options().ttl(), "test", true);
            assertThat(ours.acquire(new AcquireRequest("k", waiter.lockId(), options, false, waiter.waiterNumber())))
                    .isInstanceOf(AcquireResult.Queued.class);

            ReleaseResult answer = ours.release(new KeyedLockId("k", holder));

            assertThat(answer.outcome()).isEqualTo(ReleaseResult.Outcome.RELEASED);
            assertThat(answer.handOvers()).hasSize(1);
            assertThat(store.jdbc().queryForList("SELECT lock_id FROM syncguard_locks", String.class))
                    .containsExactly(waiter.lockId());
        }
    }

    private static final class IgnoredWakeUps implements WakeUpListener {

        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    }

    private static boolean waits(String function) {
        return store.jdbc()
                        .queryForObject(
                                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                        + " AND wait_event_type = 'Lock' AND query LIKE '%' || ? || '%'",
                                Integer.class, function)
                == 1;
    }

    @Test
    void a_release_that_is_not_sent_fails_alone() throws Exception {
        try (Connection row = lockedRow()) {
            sendTwo();
            FutureTask<ReleaseResult> release = inAnotherThread(() -> {
                connections.refused = Thread.currentThread();
                return backend.release(new KeyedLockId("k", holder));
            });

            assertThatThrownBy(release::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(RequestNotSentException.class);
            row.commit();
        }

        assertThat(got(first)).isInstanceOf(AcquireResult.Queued.class);
        assertThat(got(second)).isInstanceOf(AcquireResult.Queued.class);
    }

    /** The second waits for the answer to the first. */
    private void sendTwo() {
        first = inAnotherThread(() -> backend.acquire(request(1)));
        eventually().until(() -> statementsThatWait() == 1);
        Thread[] caller = new Thread[1];
        second = inAnotherThread(() -> {
            caller[0] = Thread.currentThread();
            return backend.acquire(request(2));
        });
        eventually().until(() -> caller[0] != null && caller[0].getState() == Thread.State.TIMED_WAITING);
    }

    private Connection lockedRow() throws SQLException {
        backend.acquire(Requests.exclusive("k", holder, TTL, "test"));
        Connection connection = PostgresServer.dataSource(store.url()).getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR UPDATE");
        }
        return connection;
    }

    private static int statementsThatWait() {
        return store.jdbc()
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND wait_event_type = 'Lock'",
                        Integer.class);
    }

    private static AcquireRequest request(int number) {
        return Requests.exclusive("k", lockId(number), TTL, "test").waitingAs(number);
    }

    private static String lockId(int number) {
        return String.format(Locale.ROOT, "%022d", number);
    }

    /** Refuses one thread a connection. */
    private static final class ScarceConnections extends DelegatingDataSource {

        private volatile Thread refused;

        ScarceConnections() {
            super(PostgresServer.dataSource(store.url()));
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (Thread.currentThread() == refused) {
                throw new SQLTransientConnectionException("no connection is left");
            }
            return super.getConnection();
        }
    }
}
