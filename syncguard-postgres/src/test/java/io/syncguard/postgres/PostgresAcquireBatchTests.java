package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresBatches.lockId;
import static io.syncguard.postgres.PostgresBatches.request;
import static io.syncguard.postgres.PostgresRace.MINE;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A batch of acquires answers each request as if it had been sent alone, or leaves it as it was. */
class PostgresAcquireBatchTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    private final PostgresBatches batches = new PostgresBatches(race);

    @Test
    void keys_that_were_never_locked_get_their_first_fence() {
        assertGranted(1, batches.acquire(request("b", MINE), request("a", MINE)));

        assertThat(race.writers()).containsExactly(lockId("a", MINE), lockId("b", MINE));
        assertThat(race.counters()).containsOnly(Map.entry("a", 1L), Map.entry("b", 1L));
    }

    @Test
    void free_keys_get_their_next_fence() {
        batches.acquire(request("a", MINE), request("b", MINE));
        batches.release(lockId("a", MINE), lockId("b", MINE));

        assertGranted(2, batches.acquire(request("b", THEIRS), request("a", THEIRS)));

        assertThat(race.counters()).containsOnly(Map.entry("a", 2L), Map.entry("b", 2L));
    }

    @Test
    void each_lease_is_that_of_its_own_request() {
        AcquireRequest shortest = Requests.exclusive("b", "id b", TTL, "owner of b");
        AcquireRequest longest = Requests.exclusive("a", "id a", TTL.multipliedBy(2), "owner of a");

        List<@Nullable AcquireResult> results = batches.acquire(shortest, longest);

        Instant now = Instant.ofEpochMilli(race.now());
        assertThat(results)
                .containsExactly(
                        new AcquireResult.Granted(new Fence(1), now, now.plus(TTL)),
                        new AcquireResult.Granted(new Fence(1), now, now.plus(TTL.multipliedBy(2))));
        assertThat(race.backend.lookup("b")).singleElement().satisfies(lease -> {
            assertThat(lease.lockId()).isEqualTo("id b");
            assertThat(lease.owner()).isEqualTo("owner of b");
            assertThat(lease.fence()).isEqualTo(new Fence(1));
            assertThat(lease.acquiredAt()).isEqualTo(now);
            assertThat(lease.expiresAt()).isEqualTo(now.plus(TTL));
        });
    }

    @Test
    void requests_of_all_kinds_are_answered_in_their_order() {
        race.grant(THEIRS);
        race.backend.acquire(Requests.shared("shared", THEIRS, TTL, "test"));
        batches.acquire(request("free", THEIRS));
        batches.release(lockId("free", THEIRS));

        List<@Nullable AcquireResult> results = batches.acquire(
                request("shared", MINE), request("new", MINE), request("k", MINE), request("free", MINE));

        assertThat(results.get(0)).isInstanceOf(AcquireResult.Refused.class);
        assertGranted(1, results.subList(1, 2));
        assertThat(results.get(2)).isInstanceOf(AcquireResult.Refused.class);
        assertGranted(2, results.subList(3, 4));
    }

    @Test
    void a_try_is_refused_by_a_live_lease_as_if_it_had_been_sent_alone() {
        race.grant(THEIRS);
        race.moveClock(TTL.plusMillis(999));

        AcquireResult alone = race.backend.acquire(request("k", MINE));

        assertThat(alone)
                .isInstanceOfSatisfying(
                        AcquireResult.Refused.class,
                        refusal -> assertThat(refusal.timeLeft()).isEqualTo(Duration.ofMillis(1)));
        assertThat(batches.acquire(request("k", MINE))).containsExactly(alone);
    }

    @Test
    void a_waiter_that_is_refused_queues_with_the_batch_as_if_it_had_been_sent_alone() {
        race.grant(THEIRS);
        AcquireResult alone = race.backend.acquire(request("k", MINE).waitingAs(1));
        race.backend.release(lockId("k", MINE));

        assertThat(batches.acquire(request("k", MINE).waitingAs(1))).containsExactly(alone);

        assertThat(race.waiters()).containsExactly(lockId("k", MINE));
        assertThat(race.counters()).containsEntry("k", 1L);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void many_waiters_for_one_key_queue_in_the_order_of_the_batch_behind_the_holder(boolean free) {
        if (!free) {
            race.grant(THEIRS);
        }
        List<AcquireRequest> requests = IntStream.range(0, 64)
                .mapToObj(i -> request("k", "caller " + i).waitingAs(i))
                .toList();

        List<@Nullable AcquireResult> results = batches.acquire(requests);

        if (free) {
            assertGranted(1, results.subList(0, 1));
        }
        int first = free ? 1 : 0;
        assertThat(results.subList(first, 64)).hasOnlyElementsOfType(AcquireResult.Queued.class);
        assertThat(race.waiters())
                .containsExactlyElementsOf(requests.stream()
                        .skip(first)
                        .map(AcquireRequest::lockId)
                        .toList());
        assertThat(race.counters()).containsOnly(Map.entry("k", 1L));
    }

    @Test
    void a_batch_renews_queue_entries_and_takes_the_last_attempts_out_of_the_queue() throws Exception {
        race.grant(THEIRS);
        List<AcquireRequest> requests = IntStream.rangeClosed(1, 3)
                .mapToObj(i -> request("k", "caller " + i).waitingAs(i))
                .toList();
        batches.acquire(requests);
        race.moveClock(Duration.ofSeconds(4));

        AcquireRequest last = request("k", "caller 2").fromQueue();
        assertThat(batches.acquire(
                        requests.get(0).fromQueue(), last, requests.get(2).fromQueue()))
                .hasExactlyElementsOfTypes(
                        AcquireResult.Queued.class, AcquireResult.Refused.class, AcquireResult.Queued.class);
        assertThat(race.waiters()).containsExactly(lockId("k", "caller 1"), lockId("k", "caller 3"));

        race.moveClock(Duration.ofSeconds(4));
        race.backend.release(THEIRS);
        assertThat(race.woken()).as("still in front").containsExactly(1L);
    }

    @Test
    void a_waiter_whose_entry_another_session_locks_is_left_alone() throws Exception {
        race.grant(THEIRS);
        AcquireRequest waiter = request("k", MINE).waitingAs(1);
        batches.acquire(waiter);
        race.inOther("SELECT FROM syncguard_locks_waiters FOR UPDATE");

        assertUnchanged(waiter.fromQueue());
        assertUnchanged(request("k", MINE).fromQueue());

        race.commitOther();
        assertThat(race.waiters()).hasSize(1);
    }

    @Test
    void a_queue_entry_that_is_there_already_is_renewed() {
        race.grant(THEIRS);
        AcquireRequest waiter = request("k", MINE).waitingAs(1);
        batches.acquire(waiter);
        race.moveClock(PostgresSettings.WAITER_TTL.minusMillis(1));

        assertThat(batches.acquire(waiter, waiter.fromQueue())).hasOnlyElementsOfType(AcquireResult.Queued.class);

        race.moveClock(PostgresSettings.WAITER_TTL.minusMillis(1));
        assertThat(race.renewWaiters(waiter.lockId())).hasSize(1);
    }

    @Test
    void a_waiter_in_front_of_a_free_key_is_granted_it() {
        race.grant(THEIRS);
        AcquireRequest first = request("k", "first").waitingAs(1);
        AcquireRequest second = request("k", "second").waitingAs(2);
        batches.acquire(first, second);
        race.backend.release(THEIRS);

        List<@Nullable AcquireResult> results = batches.acquire(second.fromQueue(), first.fromQueue());

        assertThat(results.get(0)).isInstanceOf(AcquireResult.Queued.class);
        assertGranted(2, results.subList(1, 2));
        assertThat(race.waiters()).containsExactly(second.lockId());
    }

    @Test
    void a_request_that_has_a_lease_already_is_sent_alone_and_finds_it() {
        AcquireRequest granted = request("k", MINE).waitingAs(1);
        batches.acquire(granted);

        assertUnchanged(granted.fromQueue());
        assertUnchanged(request("k", MINE).fromQueue());
        assertThat(race.waiters()).isEmpty();
        assertGranted(1, List.of(race.backend.acquire(granted.fromQueue())));
    }

    @Test
    void a_waiter_whose_key_is_free_is_granted() {
        assertGranted(1, batches.acquire(request("k", MINE).waitingAs(1)));
        assertThat(race.waiters()).isEmpty();
    }

    /** An entry that is lost in a crash costs fairness only. */
    @ParameterizedTest
    @CsvSource({"free, on", "lapsed, on", "k, off"})
    void a_batch_is_durable_if_it_grants_also_beside_one_that_queues(String key, String expected) {
        batches.acquire(request("free", THEIRS));
        batches.release(lockId("free", THEIRS));
        batches.acquire(request("lapsed", THEIRS));
        race.moveClock(PAST_THE_TTL);
        race.grant(THEIRS);

        race.inTransaction(jdbc -> {
            jdbc.execute("SET LOCAL synchronous_commit = on");
            jdbc.queryForList("SELECT * FROM syncguard_locks_acquire_batch(ARRAY['" + key + "', 'k'], ARRAY['1', '2'],"
                    + " ARRAY[60000, 60000], ARRAY['test', 'test'], ARRAY[false, false], ARRAY[1, 2]::BIGINT[],"
                    + " ARRAY[NULL, NULL], ARRAY[false, false], 5000, 'race', false, NULL)");
            assertThat(jdbc.queryForObject("SHOW synchronous_commit", String.class))
                    .isEqualTo(expected);
        });
    }

    @Test
    void a_lapsed_lease_is_taken_over() {
        race.grant(THEIRS);
        race.moveClock(PAST_THE_TTL);

        assertGranted(2, batches.acquire(request("k", MINE)));
        assertThat(race.writers()).containsExactly(lockId("k", MINE));
    }

    @Test
    void readers_are_not_passed() {
        race.grantShared(THEIRS);

        assertThat(batches.acquire(request("k", MINE))).hasOnlyElementsOfType(AcquireResult.Refused.class);
    }

    @Test
    void waiters_are_not_passed() {
        race.grant(THEIRS);
        race.queue(RaceDatabase.request("waiter"), 1);

        assertThat(batches.acquire(request("k", MINE))).hasOnlyElementsOfType(AcquireResult.Refused.class);
        race.backend.release(THEIRS);
        assertThat(batches.acquire(request("k", MINE))).hasOnlyElementsOfType(AcquireResult.Refused.class);
    }

    @Test
    void the_last_fence_is_granted_and_after_it_nothing_is_acquired_or_advanced() {
        race.grant(THEIRS);
        race.backend.release(THEIRS);
        race.setCounters(899_999_999_999_999L);

        assertGranted(900_000_000_000_000L, batches.acquire(request("k", MINE)));
        race.backend.release(lockId("k", MINE));

        assertUnchanged(request("k", MINE));
    }

    @Test
    void a_batch_without_a_grant_writes_nothing_and_waits_for_no_row() throws Exception {
        race.grant(THEIRS);
        race.backend.acquire(Requests.shared("shared", THEIRS, TTL, "test"));
        race.lockSerialisingRow();

        assertThat(batches.acquire(request("k", MINE), request("shared", MINE)))
                .satisfiesExactly(
                        first -> assertThat(first).isInstanceOf(AcquireResult.Refused.class),
                        second -> assertThat(second).isInstanceOf(AcquireResult.Refused.class));
        race.commitOther();

        // Whoever writes or locks a row has the number of a transaction.
        race.inTransaction(jdbc -> {
            jdbc.queryForList("""
                    SELECT * FROM syncguard_locks_acquire_batch(
                        ARRAY['k', 'shared'], ARRAY['1', '2'], ARRAY[60000, 60000], ARRAY['test', 'test'],
                        ARRAY[false, false], ARRAY[NULL, NULL]::BIGINT[], ARRAY[NULL, NULL], ARRAY[false, false], 5000,
                        'race', false, NULL)
                    """);
            assertThat(jdbc.queryForObject("SELECT txid_current_if_assigned()", Long.class))
                    .isNull();
        });
    }

    @Test
    void a_batch_of_many_keys_grants_them_all() {
        List<AcquireRequest> requests =
                IntStream.range(0, 128).mapToObj(i -> request("key " + i, MINE)).toList();

        assertGranted(1, batches.acquire(requests));

        assertThat(race.leases()).hasSize(128);
    }

    private void assertUnchanged(AcquireRequest request) {
        Map<String, Long> counters = race.counters();
        List<String> writers = race.writers();

        assertThat(batches.acquire(request)).containsOnlyNulls();

        assertThat(race.counters()).isEqualTo(counters);
        assertThat(race.writers()).isEqualTo(writers);
    }

    static void assertGranted(long fence, List<@Nullable AcquireResult> results) {
        assertThat(results)
                .isNotEmpty()
                .allSatisfy(result -> assertThat(result)
                        .isInstanceOfSatisfying(
                                AcquireResult.Granted.class,
                                grant -> assertThat(grant.fence().value()).isEqualTo(fence)));
    }
}
