package io.syncguard.verification.stress;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import io.syncguard.verification.stress.StressServer.Surroundings;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Records each change of a row with triggers. */
@Tag("verification")
class PostgresReplayTests extends ReplayContract {

    private PostgresRowLog log;

    @Override
    StressServer start(Surroundings surroundings) {
        StressServer server = PostgresStressServer.forReplay(surroundings);
        log = new PostgresRowLog(new JdbcTemplate(surroundings.dataSource()));
        return server;
    }

    @Override
    List<List<RowChange>> ofBusiestKeys(int limit) {
        return log.ofBusiestKeys(limit);
    }

    @Test
    void an_extension_between_a_look_and_its_cleanup_is_accepted(@TempDir Path directory) throws Exception {
        List<RowChange> changes = List.of(
                fence(1, "INSERT"),
                lease(1, 0, "INSERT", "first", 500),
                fence(2, "UPDATE"),
                lease(2, 0, "INSERT", "second", 500),
                lease(3, 1400, "UPDATE", "first", 2000),
                lease(4, 1501, "DELETE", "second", 500),
                new RowChange(4, 1501, 'E', "INSERT", "key", "waiter", false, 1, 2000, 0));

        assertThat(replay(new ModelReplay(changes), directory)).contains("accepted: 4 transactions");
    }

    @Test
    void requests_that_go_along_with_a_release_are_accepted(@TempDir Path directory) throws Exception {
        List<RowChange> changes = List.of(
                fence(1, "INSERT"),
                exclusive(1, "INSERT", "first", 30_000),
                fence(2, "UPDATE"),
                entry(2, "INSERT", "second", 1),
                entry(2, "DELETE", "second", 1),
                exclusive(2, "DELETE", "first", 30_000),
                exclusive(2, "INSERT", "second", 5000),
                fence(3, "UPDATE"),
                entry(3, "INSERT", "third", 2),
                entry(3, "INSERT", "fourth", 3),
                entry(3, "DELETE", "third", 2),
                exclusive(3, "DELETE", "second", 5000),
                exclusive(3, "INSERT", "third", 5000));

        assertThat(replay(new ModelReplay(changes), directory)).contains("accepted: 3 transactions");
    }

    @Test
    void a_lease_with_another_lock_id_is_another_lease() {
        try (SingleConnectionDataSource database =
                new SingleConnectionDataSource(PostgresServer.newDatabaseUrl(), true)) {
            new PostgresSchema(database, PostgresTables.DEFAULT, FenceSource.COUNTER).initialize();
            JdbcTemplate jdbc = new JdbcTemplate(database);
            PostgresRowLog rows = new PostgresRowLog(jdbc);
            jdbc.update("INSERT INTO syncguard_locks VALUES ('key', 'first', 1000, 0, '1', 'key', 'owner')");

            jdbc.update("UPDATE syncguard_locks SET lock_id = 'second'");

            assertThat(rows.ofBusiestKeys(1).get(0))
                    .extracting(change -> change.operation() + " " + change.lockId())
                    .containsExactly("INSERT first", "DELETE first", "INSERT second");
        }
    }

    @Test
    void an_extension_stands_before_the_transaction_that_waited_for_it() {
        String url = PostgresServer.newDatabaseUrl();
        SingleConnectionDataSource one = new SingleConnectionDataSource(url, true);
        SingleConnectionDataSource another = new SingleConnectionDataSource(url, true);
        try (one;
                another) {
            new PostgresSchema(one, PostgresTables.DEFAULT, FenceSource.COUNTER).initialize();
            JdbcTemplate extension = new JdbcTemplate(one);
            JdbcTemplate release = new JdbcTemplate(another);
            PostgresRowLog rows = new PostgresRowLog(extension);
            extension.update("INSERT INTO syncguard_fence_counters VALUES ('fence:key', 1, 'key')");
            extension.update("INSERT INTO syncguard_locks VALUES ('key', 'id', 1000, 0, '1', 'key', 'owner')");

            new TransactionTemplate(new JdbcTransactionManager(another)).executeWithoutResult(status -> {
                release.update("UPDATE syncguard_fence_counters SET fence = 2");
                extension.update("UPDATE syncguard_locks SET expires_at_ms = 2000");
                release.update("DELETE FROM syncguard_locks");
            });

            assertThat(rows.ofBusiestKeys(1).get(0))
                    .extracting(change -> change.table() + " " + change.operation())
                    .containsExactly("C INSERT", "L INSERT", "L UPDATE", "C UPDATE", "L DELETE");
        }
    }

    @Test
    void a_renewal_stands_where_it_looked_at_the_clock() {
        try (SingleConnectionDataSource database =
                new SingleConnectionDataSource(PostgresServer.newDatabaseUrl(), true)) {
            new PostgresSchema(database, PostgresTables.DEFAULT, FenceSource.COUNTER).initialize();
            JdbcTemplate jdbc = new JdbcTemplate(database);
            PostgresRowLog rows = new PostgresRowLog(jdbc);
            jdbc.update("INSERT INTO syncguard_fence_counters VALUES ('fence:key', 1, 'key')");
            jdbc.update("""
                    INSERT INTO syncguard_locks_waiters
                        (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, waiter)
                    VALUES ('id', 'key', 0, false, 1000, 1000, true, 1)
                    """);
            jdbc.update("UPDATE syncguard_fence_counters SET fence = 2");

            jdbc.update("UPDATE syncguard_locks_waiters SET expires_at_ms = syncguard_locks_now() - 5000 + ttl_ms");

            assertThat(rows.ofBusiestKeys(1).get(0))
                    .extracting(change -> change.table() + " " + change.operation())
                    .containsExactly("C INSERT", "E INSERT", "E UPDATE", "C UPDATE");
        }
    }

    /** The fence of a transaction is its number. */
    private static RowChange fence(int transaction, String operation) {
        return new RowChange(transaction, 0, 'C', operation, "key", "", false, 0, 0, transaction);
    }

    private static RowChange lease(int transaction, long nowMillis, String operation, String lockId, long expiresAt) {
        return new RowChange(transaction, nowMillis, 'L', operation, "key", lockId, true, 0, expiresAt, 0);
    }

    private static RowChange exclusive(int transaction, String operation, String lockId, long expiresAt) {
        return new RowChange(transaction, 0, 'L', operation, "key", lockId, false, 0, expiresAt, 0);
    }

    private static RowChange entry(int transaction, String operation, String lockId, long arrival) {
        return new RowChange(transaction, 0, 'E', operation, "key", lockId, false, arrival, 5000, 0);
    }
}
