package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.BlockingSession;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Operators see whose transaction keeps the operations of a key waiting. */
class BlockingSessionsTests {

    private static final String KEY = "order:42";

    private static final String PIN = "SELECT 1 FROM syncguard_locks WHERE key = 'order:42' FOR KEY SHARE";

    private static final String UPDATE = "UPDATE syncguard_locks SET owner = owner WHERE key = 'order:42'";

    @RegisterExtension
    static final PostgresContractStore store = new PostgresContractStore();

    private final StoreCalls backend = store.emptied().newBackend();

    private final List<Connection> sessions = new ArrayList<>();

    @AfterEach
    void close() throws SQLException {
        for (Connection session : sessions) {
            session.close();
        }
        backend.close();
    }

    @Test
    void a_key_that_nobody_locks_has_none() throws SQLException {
        lock();
        begin("ended", PIN).rollback();
        begin("other", PIN.replace(KEY, "order:43"));

        assertThat(backend.blockingSessions(KEY)).isEmpty();
        assertThat(backend.blockingSessions("free")).isEmpty();
    }

    @Test
    void what_they_do_is_hidden_from_a_user_without_the_right_to_see_it() throws SQLException {
        lock();
        Connection commits = begin("payments", PIN);

        assertThat(backend.blockingSessions(KEY)).singleElement().satisfies(session -> {
            assertThat(session.id()).isEqualTo(idOf(commits));
            assertThat(session.user()).isEqualTo("postgres");
            assertThat(session.statement()).isEqualTo("<insufficient privilege>");
        });
    }

    @Test
    void a_transaction_that_commits_under_the_lease_is_one() throws SQLException {
        store.jdbc().execute("GRANT pg_read_all_stats TO " + store.role());
        AcquireRequest held = lock();
        Connection commits = begin("payments", PIN);
        backend.extend(Requests.extension(held.lockId(), held.options().ttl()));

        assertThat(backend.blockingSessions(KEY)).singleElement().satisfies(session -> {
            assertThat(session.id()).isEqualTo(idOf(commits));
            assertThat(session.application()).isEqualTo("payments");
            assertThat(session.user()).isEqualTo("postgres");
            assertThat(session.state()).isEqualTo("idle in transaction");
            assertThat(session.since()).isNotNull();
            assertThat(session.statement()).isEqualTo(PIN);
            assertThat(session.blockedBy()).isEmpty();
        });
        store.jdbc().execute("REVOKE pg_read_all_stats FROM " + store.role());
    }

    @Test
    void several_transactions_of_one_row_are_all_found() throws SQLException {
        lock();
        begin("one", PIN);
        begin("two", PIN);

        assertThat(applications()).containsExactlyInAnyOrder("one", "two");
    }

    @Test
    void a_transaction_that_locks_the_counter_is_one() throws SQLException {
        lock();
        begin("psql", "SELECT 1 FROM syncguard_fence_counters FOR UPDATE");

        assertThat(applications()).containsExactly("psql");
    }

    @Test
    void a_session_names_those_for_which_it_waits() throws Exception {
        lock();
        Connection root = begin("root", "LOCK TABLE syncguard_locks_waiters");
        Connection waits = begin("waits", UPDATE);
        Thread blocked = new Thread(() -> execute(waits, "SELECT count(*) FROM syncguard_locks_waiters"));
        blocked.start();

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(backend.blockingSessions(KEY))
                        .singleElement()
                        .satisfies(session -> {
                            assertThat(session.application()).isEqualTo("waits");
                            assertThat(session.blockedBy()).containsExactly(idOf(root));
                        }));

        root.rollback();
        blocked.join();
    }

    private AcquireRequest lock() {
        AcquireRequest request = Requests.exclusive(KEY, "l".repeat(22), Duration.ofMinutes(1), "holder");
        backend.acquire(request);
        return request;
    }

    private Connection begin(String application, String statement) throws SQLException {
        Connection session = PostgresServer.dataSource(store.url()).getConnection();
        sessions.add(session);
        execute(session, "SET application_name = '" + application + "'");
        session.setAutoCommit(false);
        execute(session, statement);
        return session;
    }

    private static void execute(Connection session, String statement) {
        try (var work = session.createStatement()) {
            work.execute(statement);
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static int idOf(Connection session) throws SQLException {
        return session.unwrap(org.postgresql.PGConnection.class).getBackendPID();
    }

    private List<String> applications() {
        return backend.blockingSessions(KEY).stream()
                .map(BlockingSession::application)
                .toList();
    }
}
