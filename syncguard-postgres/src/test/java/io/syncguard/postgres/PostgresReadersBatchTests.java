package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A batch of readers grants those that nothing blocks, and leaves the others as they were. */
class PostgresReadersBatchTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    private final PostgresBatches batches = new PostgresBatches(race);

    @Test
    void readers_of_one_key_are_granted_with_fences_in_their_order() {
        makeFree("k");

        assertThat(batches.acquire(reader("k", "b"), reader("k", "a"), reader("k", "c")))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(2L, 3L, 4L);

        assertThat(race.counters()).containsOnly(Map.entry("k", 4L));
    }

    @Test
    void no_later_fence_has_an_earlier_time() {
        makeFree("k");
        race.functions.tickingClock(Duration.ofMillis(1));

        batches.acquire(reader("k", "a"), reader("k", "b"), reader("k", "c"));

        assertThat(race.jdbc.queryForList(
                        "SELECT acquired_at_ms FROM syncguard_locks_shared ORDER BY fence", Long.class))
                .hasSize(3)
                .isSorted();
    }

    @Test
    void readers_of_several_keys_share_a_batch() {
        makeFree("k", "other");

        assertThat(batches.acquire(reader("k", "a"), reader("other", "b"), reader("k", "c"), reader("other", "d")))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(2L, 2L, 3L, 3L);
    }

    @Test
    void each_lease_is_that_of_its_own_request() {
        makeFree("k");
        AcquireRequest one = Requests.shared("k", "id one", TTL, "owner one");
        AcquireRequest two = Requests.shared("k", "id two", TTL.multipliedBy(2), "owner two");

        List<@Nullable AcquireResult> results = batches.acquire(one, two);

        Instant now = Instant.ofEpochMilli(race.now());
        assertThat(results)
                .containsExactly(
                        new AcquireResult.Granted(new Fence(2), now, now.plus(TTL)),
                        new AcquireResult.Granted(new Fence(3), now, now.plus(TTL.multipliedBy(2))));
        assertThat(race.backend.lookup("k"))
                .anySatisfy(lease -> {
                    assertThat(lease.lockId()).isEqualTo("id two");
                    assertThat(lease.owner()).isEqualTo("owner two");
                    assertThat(lease.fence()).isEqualTo(new Fence(3));
                    assertThat(lease.acquiredAt()).isEqualTo(now);
                    assertThat(lease.expiresAt()).isEqualTo(now.plus(TTL.multipliedBy(2)));
                })
                .hasSize(2);
    }

    @Test
    void readers_join_those_that_are_there() {
        race.grantShared(THEIRS);

        assertThat(batches.acquire(reader("k", "a")))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(2L);
    }

    @Test
    void a_writer_blocks_its_readers_and_no_others() {
        race.grant(THEIRS);
        makeFree("other");

        assertThat(batches.acquire(reader("k", "a"), reader("other", "b")))
                .satisfiesExactly(
                        blocked -> assertThat(blocked).isInstanceOf(AcquireResult.Refused.class),
                        granted -> assertThat(fence(granted)).isEqualTo(2));
        assertThat(race.counters()).containsEntry("k", 1L);
    }

    @Test
    void a_lapsed_writer_is_taken_over() {
        race.grant(THEIRS);
        race.moveClock(PAST_THE_TTL);

        assertThat(batches.acquire(reader("k", "a"), reader("k", "b")))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(2L, 3L);
    }

    @Test
    void a_key_that_was_never_locked_is_acquired_alone() {
        assertUnchanged(reader("k", "a"));
    }

    @Test
    void a_writer_in_the_queue_blocks_those_behind_it_and_not_those_in_front() {
        race.grant(THEIRS);
        AcquireRequest front = reader("k", "front");
        AcquireRequest behind = reader("k", "behind");
        race.queue(front, 1);
        race.queue(RaceDatabase.request("writer"), 2);
        race.queue(behind, 3);
        race.jdbc.update("DELETE FROM syncguard_locks");

        assertThat(batches.acquire(behind.waitingAs(3).fromQueue(), front.fromQueue(), reader("k", "late")))
                .satisfiesExactly(
                        third -> assertThat(third).isInstanceOf(AcquireResult.Queued.class),
                        first -> assertThat(fence(first)).isEqualTo(2),
                        late -> assertThat(late).isInstanceOf(AcquireResult.Refused.class));
        assertThat(race.waiters()).containsExactly("writer", behind.lockId());
    }

    @Test
    void readers_in_the_queue_do_not_block_each_other() {
        race.grant(THEIRS);
        List<AcquireRequest> readers = List.of(reader("k", "a"), reader("k", "b"));
        readers.forEach(reader -> race.queue(reader, 1));
        race.backend.release(THEIRS);

        assertThat(batches.acquire(readers.get(1).fromQueue(), reader("k", "late")))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(2L, 3L);
        assertThat(race.waiters()).containsExactly(readers.get(0).lockId());
    }

    @Test
    void a_lapsed_writer_in_the_queue_blocks_nobody() {
        race.grant(THEIRS);
        race.queue(RaceDatabase.request("writer"), 1);
        race.jdbc.update("DELETE FROM syncguard_locks");
        race.moveClock(PostgresSettings.WAITER_TTL.plusMillis(1));

        assertThat(batches.acquire(reader("k", "a")))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(2L);
    }

    @Test
    void a_reader_whose_entry_has_lapsed_is_behind_the_writers() {
        race.grant(THEIRS);
        AcquireRequest front = reader("k", "front");
        race.queue(front, 1);
        race.moveClock(PostgresSettings.WAITER_TTL.plusMillis(1));
        race.queue(RaceDatabase.request("writer"), 2);
        race.jdbc.update("DELETE FROM syncguard_locks");

        assertThat(batches.acquire(front.waitingAs(1).fromQueue())).hasOnlyElementsOfType(AcquireResult.Queued.class);
        assertThat(race.waiters()).containsExactly("writer", front.lockId());
    }

    /** The answer to its earlier attempt was lost. */
    @Test
    void a_reader_that_has_a_lease_already_is_sent_alone_and_does_not_fail_the_others() {
        race.grantShared(THEIRS);
        AcquireRequest granted = reader("k", "a").waitingAs(1);
        assertThat(fence(batches.acquire(granted).get(0))).isEqualTo(2);

        List<@Nullable AcquireResult> results = batches.acquire(
                reader("k", "b"), granted.fromQueue(), reader("k", "c").waitingAs(3));

        assertThat(results.get(1)).isNull();
        assertThat(fence(results.get(0))).isEqualTo(3);
        assertThat(fence(results.get(2))).isEqualTo(4);
        assertThat(fence(race.backend.acquire(granted.fromQueue()))).isEqualTo(2);
        assertThat(race.counters()).containsOnly(Map.entry("k", 4L));
    }

    @Test
    void fences_end_at_the_last_one() {
        makeFree("k");
        race.setCounters(899_999_999_999_998L);

        List<@Nullable AcquireResult> results = batches.acquire(reader("k", "a"), reader("k", "b"), reader("k", "c"));

        assertThat(results.subList(0, 2))
                .extracting(PostgresReadersBatchTests::fence)
                .containsExactly(899_999_999_999_999L, 900_000_000_000_000L);
        assertThat(results.get(2)).isNull();
        assertThat(race.readers()).hasSize(2);
    }

    @Test
    void a_batch_without_a_grant_writes_nothing_and_waits_for_no_row() throws Exception {
        race.grant(THEIRS);
        race.lockSerialisingRow();
        assertThat(batches.acquire(reader("k", "a"))).hasOnlyElementsOfType(AcquireResult.Refused.class);
        race.commitOther();

        // Whoever writes or locks a row has the number of a transaction.
        race.inTransaction(jdbc -> {
            jdbc.queryForList("""
                    SELECT * FROM syncguard_locks_acquire_readers(
                        ARRAY['k'], ARRAY[NULL]::INTEGER[], ARRAY['1'], ARRAY[60000], ARRAY['test'], ARRAY[false],
                        ARRAY[NULL]::BIGINT[], ARRAY[NULL], ARRAY[false], 5000, 'race')
                    """);
            assertThat(jdbc.queryForObject("SELECT txid_current_if_assigned()", Long.class))
                    .isNull();
        });
    }

    @Test
    void a_key_whose_serialising_row_is_locked_is_skipped_at_once_and_the_others_are_granted() throws Exception {
        makeFree("k", "other");
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR UPDATE");

        assertThat(batches.acquire(reader("k", "a"), reader("other", "b")))
                .satisfiesExactly(
                        skipped -> assertThat(skipped).isNull(),
                        granted -> assertThat(fence(granted)).isEqualTo(2));
        race.commitOther();
        assertThat(race.counters()).containsEntry("k", 1L);
    }

    @Test
    void a_batch_of_many_keys_grants_them_all() {
        makeFree(IntStream.range(0, 64).mapToObj(i -> "key " + i).toArray(String[]::new));

        List<@Nullable AcquireResult> results = batches.acquire(IntStream.range(0, 128)
                .mapToObj(i -> reader("key " + i % 64, "reader " + i))
                .toList());

        assertThat(results.subList(0, 64))
                .extracting(PostgresReadersBatchTests::fence)
                .containsOnly(2L);
        assertThat(results.subList(64, 128))
                .extracting(PostgresReadersBatchTests::fence)
                .containsOnly(3L);
    }

    private void assertUnchanged(AcquireRequest... requests) {
        Map<String, Long> counters = race.counters();
        List<String> waiters = race.waiters();

        assertThat(batches.acquire(requests)).containsOnlyNulls();

        assertThat(race.counters()).isEqualTo(counters);
        assertThat(race.waiters()).isEqualTo(waiters);
    }

    static AcquireRequest reader(String key, String caller) {
        return Requests.shared(key, PostgresBatches.lockId(key, caller), TTL, "test");
    }

    static long fence(@Nullable AcquireResult result) {
        assertThat(result).isInstanceOf(AcquireResult.Granted.class);
        return ((AcquireResult.Granted) result).fence().value();
    }

    /** Counters that exist, of keys without a lease. */
    private static void makeFree(String... keys) {
        for (String key : keys) {
            race.backend.acquire(Requests.exclusive(key, "first of " + key, TTL, "test"));
            race.backend.release("first of " + key);
        }
    }
}
