package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A list among many locks. */
class PostgresListLoadTests {

    private static final int LOCKS = 100_000;

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    @Test
    void a_list_by_a_prefix_reads_no_other_locks() {
        JdbcTemplate jdbc = store.jdbc();
        jdbc.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        addOrders(jdbc);
        StoreCalls backend = store.newBackend();
        backend.acquire(Requests.exclusive("job", "A".repeat(22), Duration.ofMinutes(1), "test"));
        LockQuery query = LockQuery.all().startingWith("job");

        // The driver and the server prepare a statement after some calls, and plan it anew.
        long most = 0;
        for (int i = 0; i < 12; i++) {
            long before = blocks(jdbc);
            assertThat(backend.list(query).locks()).extracting(LockStatus::key).containsExactly("job");
            most = Math.max(most, blocks(jdbc) - before);
        }

        assertThat(most).isLessThan(200);
        backend.close();
    }

    @Test
    void the_keys_with_a_queue_are_found_without_a_look_at_other_locks() {
        JdbcTemplate jdbc = store.jdbc();
        jdbc.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        addOrders(jdbc);
        StoreCalls backend = store.newBackend();
        backend.acquire(Requests.exclusive("order:77", "B".repeat(22), Duration.ofMinutes(1), "test")
                .waitingAs(1));

        long most = 0;
        for (int i = 0; i < 12; i++) {
            long before = blocks(jdbc);
            assertThat(backend.list(LockSummary.QUEUES).locks())
                    .extracting(LockStatus::key)
                    .containsExactly("order:77");
            most = Math.max(most, blocks(jdbc) - before);
        }

        assertThat(most).isLessThan(200);
        assertThat(backend.summary().locked()).isGreaterThanOrEqualTo(LOCKS);
        backend.close();
    }

    @ParameterizedTest
    @CsvSource({"a, b", "ab, ac", "a\uD7FF, a\uE000", "a\uDBFF\uDFFF, b", "\uFFFF, \uD800\uDC00"})
    void the_next_text_behind_a_prefix(String prefix, String behind) {
        assertThat(ListStatement.behind(prefix)).isEqualTo(behind);
    }

    @Test
    void nothing_is_behind_the_last_character() {
        assertThat(ListStatement.behind("")).isNull();
        assertThat(ListStatement.behind("\uDBFF\uDFFF")).isNull();
    }

    private static void addOrders(JdbcTemplate jdbc) {
        jdbc.update("""
            INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
            SELECT 'order:' || i, lpad(i::text, 22, 'x'), 99999999999999, 0, '000000000000001', 'order:' || i, ''
            FROM generate_series(1, ?) AS i ON CONFLICT DO NOTHING
            """, LOCKS);
    }

    private static long blocks(JdbcTemplate jdbc) {
        Long blocks = jdbc.queryForObject(
                "SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0) FROM pg_stat_statements s"
                        + " JOIN pg_database d ON d.oid = s.dbid"
                        + " WHERE d.datname = current_database() AND query LIKE '%\"Page\"%'",
                Long.class);
        return blocks;
    }
}
