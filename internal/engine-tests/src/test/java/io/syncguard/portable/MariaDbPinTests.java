package io.syncguard.portable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.ForcedRelease;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.core.ContractFixture;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LeasePins;
import io.syncguard.testing.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Transactions of the application pin leases of the portable store in MariaDB. */
@ExtendWith(MariaDbKitTests.Store.class)
class MariaDbPinTests extends ContractFixture {

    private HikariDataSource pool;
    private Connection transaction;

    @BeforeEach
    void begin() throws SQLException {
        pool = (HikariDataSource) ((PortableContractStore) store()).dataSource();
        transaction = begun(Connection.TRANSACTION_REPEATABLE_READ);
    }

    @AfterEach
    void end() throws SQLException {
        transaction.close();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_SERIALIZABLE
            })
    void nobody_is_granted_the_key_of_a_pinned_lease_that_lapses(int isolation) throws SQLException {
        AcquireRequest holder = held(writer());
        try (Connection own = begun(isolation)) {
            assertThat(pinned(own, holder)).containsExactly(holder.lockId());
            store().expire(KEY);

            assertThat(refused(writer()).timeLeft()).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
            own.commit();

            granted(writer());
        }
    }

    @Test
    void a_lease_that_was_taken_over_is_not_there_to_be_pinned_whatever_the_transaction_saw() throws SQLException {
        AcquireRequest holder = held(writer());
        transaction
                .createStatement()
                .executeQuery("SELECT * FROM syncguard_leases")
                .next();
        store().expire(KEY);
        granted(elsewhere(), writer());

        assertThat(pinned(transaction, holder)).isEmpty();
    }

    /** So it commits, although it may have worked on data from before the grant. */
    @Test
    void a_lease_is_pinned_that_was_granted_after_the_first_query_of_the_transaction() throws SQLException {
        transaction
                .createStatement()
                .executeQuery("SELECT * FROM syncguard_leases")
                .next();
        AcquireRequest holder = held(writer());

        assertThat(pinned(transaction, holder)).containsExactly(holder.lockId());
    }

    @Test
    void a_pin_waits_for_a_takeover_that_is_not_committed() throws Exception {
        AcquireRequest holder = held(writer());
        try (Connection takeover = begun(Connection.TRANSACTION_READ_COMMITTED)) {
            takeover.createStatement().execute("DELETE FROM syncguard_leases");
            Future<Set<String>> pin = inBackground(() -> pinned(transaction, holder));
            awaitWaiter();
            takeover.commit();

            assertThat(pin.get()).isEmpty();
        }
    }

    @Test
    void heartbeats_go_on_while_their_lease_is_pinned_and_pins_beside_a_heartbeat() throws SQLException {
        AcquireRequest holder = held(writer());
        try (Connection heartbeat = begun(Connection.TRANSACTION_READ_COMMITTED)) {
            heartbeat.createStatement().execute("UPDATE syncguard_leases SET expires_at = expires_at + 1");
            assertThat(pinned(transaction, holder)).containsExactly(holder.lockId());
            heartbeat.commit();
        }

        assertThat(backend().extend(Requests.extension(holder.lockId(), TTL)))
                .isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void a_heartbeat_under_way_keeps_its_lease_from_others() throws SQLException {
        held(writer());
        store().expire(KEY);
        transaction.createStatement().execute("UPDATE syncguard_leases SET expires_at = expires_at + 600000");
        refused(writer());

        transaction.commit();

        refused(writer());
    }

    @Test
    void all_holders_of_a_shared_lock_pin_their_leases() throws SQLException {
        AcquireRequest one = held(reader());
        AcquireRequest other = held(reader());
        try (Connection second = begun(Connection.TRANSACTION_REPEATABLE_READ)) {
            assertThat(pinned(transaction, one, other)).hasSize(2);
            assertThat(pinned(second, other, one)).hasSize(2);
            store().expire(KEY);
            transaction.commit();

            refused(writer());
            second.commit();

            granted(writer());
        }
    }

    @Test
    void a_forced_release_leaves_the_lease_of_a_commit_and_ends_the_others() throws SQLException {
        AcquireRequest committing = held(reader());
        held(reader());
        pinned(transaction, committing);

        ForcedRelease done = elsewhere().forceRelease(KEY);

        assertThat(done.released()).hasSize(1);
        assertThat(done.remaining()).hasSize(1);
        assertThat(elsewhere().lookup(KEY)).extracting(RawLockInfo::lockId).containsExactly(committing.lockId());
        transaction.commit();
        assertThat(elsewhere().forceRelease(KEY).released()).hasSize(1);
    }

    @Test
    void a_forced_release_leaves_a_lapsed_lease_of_a_commit_and_one_whose_heartbeat_is_under_way() throws SQLException {
        AcquireRequest holder = held(writer());
        try (Connection heartbeat = begun(Connection.TRANSACTION_READ_COMMITTED)) {
            heartbeat.createStatement().execute("UPDATE syncguard_leases SET expires_at = expires_at + 1");
            assertThat(elsewhere().forceRelease(KEY).remaining()).hasSize(1);
        }
        pinned(transaction, holder);
        store().expire(KEY);

        assertThat(elsewhere().forceRelease(KEY).released()).isEmpty();

        refused(writer());
    }

    @Test
    void others_get_and_release_other_keys_while_leases_are_pinned() throws SQLException {
        List<AcquireRequest> all = IntStream.range(0, 20)
                .mapToObj(i -> held(request("other:" + i, LockMode.EXCLUSIVE, TTL)))
                .toList();
        assertThat(pinned(transaction, all.get(3), all.get(9), all.get(15))).hasSize(3);

        for (int i = 0; i < all.size(); i++) {
            granted(elsewhere(), request("another:" + i, LockMode.EXCLUSIVE, TTL));
            if (i % 6 != 3) {
                release(all.get(i));
            }
        }
    }

    @Test
    void another_database_of_the_server_is_recognised() throws SQLException {
        LeasePins pins = Objects.requireNonNull(backend().pins());
        try (Connection other = DriverManager.getConnection(MariaDbServer.newDatabaseUrl())) {
            assertThat(pins.whyNot(other)).isEqualTo("it is of another database than the lock");
            assertThat(pins.whyNot(transaction)).isNull();
        }
    }

    /** A transaction of the application, whose sessions have none of our limits. */
    private Connection begun(int isolation) throws SQLException {
        Connection begun = DriverManager.getConnection(pool.getJdbcUrl());
        begun.setTransactionIsolation(isolation);
        begun.setAutoCommit(false);
        return begun;
    }

    private Set<String> pinned(Connection own, AcquireRequest... leases) throws SQLException {
        LeasePins pins = Objects.requireNonNull(backend().pins());
        return pins.pin(
                        own,
                        List.of(leases).stream().map(AcquireRequest::lockId).toList())
                .lockIds();
    }

    private static <T> Future<T> inBackground(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        new Thread(task).start();
        return task;
    }

    private void awaitWaiter() {
        JdbcTemplate jdbc = new JdbcTemplate(pool);
        await().pollInterval(MariaDbSessionTests.BETWEEN_LOOKS)
                .until(() -> !jdbc.queryForList(
                                "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
                        .isEmpty());
    }
}
