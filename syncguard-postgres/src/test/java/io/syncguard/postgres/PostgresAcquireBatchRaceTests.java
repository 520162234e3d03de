package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresAcquireBatchTests.assertGranted;
import static io.syncguard.postgres.PostgresBatches.lockId;
import static io.syncguard.postgres.PostgresBatches.request;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.assertTimesOut;
import static io.syncguard.postgres.PostgresRace.start;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A batch of acquires that meets others at its keys passes none of them, waits for none, and grants the rest. */
class PostgresAcquireBatchRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    private final PostgresBatches batches = new PostgresBatches(race);

    @Test
    void a_key_whose_serialising_row_is_locked_is_skipped_at_once_and_the_others_are_granted() throws Exception {
        makeFree("k", "other");
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR UPDATE");

        List<@Nullable AcquireResult> results =
                batches.acquire(request("k", MINE), request("new", MINE), request("other", MINE));

        assertThat(results.get(0)).isNull();
        assertGranted(1, results.subList(1, 2));
        assertGranted(2, results.subList(2, 3));
        race.commitOther();
        assertThat(race.counters()).containsEntry("k", 1L);
    }

    @Test
    void a_key_that_readers_were_granted_between_look_and_lock_is_refused() throws Exception {
        makeFree("k", "other");
        Future<List<@Nullable AcquireResult>> batch = startBatchThatStopsBeforeItLocks("k", "other");

        race.grantShared(THEIRS);
        race.greenLight();

        assertThat(batch.get().get(0)).isInstanceOf(AcquireResult.Refused.class);
        assertGranted(2, batch.get().subList(1, 2));
        assertThat(race.counters()).containsOnly(Map.entry("k", 2L), Map.entry("other", 2L));
    }

    @Test
    void a_key_that_somebody_queued_for_between_look_and_lock_is_refused() throws Exception {
        makeFree("k", "other");
        Future<List<@Nullable AcquireResult>> batch = startBatchThatStopsBeforeItLocks("k", "other");

        race.grant(THEIRS);
        race.queue(RaceDatabase.request("waiter"), 1);
        race.backend.release(THEIRS);
        race.greenLight();

        assertThat(batch.get().get(0)).isInstanceOf(AcquireResult.Refused.class);
        assertGranted(2, batch.get().subList(1, 2));
    }

    @Test
    void a_key_whose_grant_is_not_committed_when_the_batch_looks_is_skipped() throws Exception {
        makeFree("k", "other");
        race.inOther("SELECT syncguard_locks_acquire('k', false, 1, '" + THEIRS
                + "', 30000, 'test', false, NULL, NULL, NULL, NULL, NULL)");

        List<@Nullable AcquireResult> results = batches.acquire(request("k", MINE), request("other", MINE));

        race.commitOther();
        assertThat(results.get(0)).isNull();
        assertGranted(2, results.subList(1, 2));
        assertThat(race.writers()).containsExactly(THEIRS, lockId("other", MINE));
    }

    @Test
    void nobody_passes_a_request_of_the_same_batch_that_has_to_be_sent_alone() throws Exception {
        makeFree("slow");
        race.grant(THEIRS);
        batches.acquire(request("slow", THEIRS));
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR UPDATE");
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<List<@Nullable AcquireResult>> batch = race.startBlocked(() -> batches.acquire(
                request("k", MINE).waitingAs(1),
                request("slow", MINE).waitingAs(2),
                request("k", "behind").waitingAs(3)));

        race.commitOther();
        race.greenLight();

        assertThat(batch.get().get(0)).isNull();
        assertThat(batch.get().get(1)).isInstanceOf(AcquireResult.Queued.class);
        assertThat(batch.get().get(2)).isNull();
    }

    @Test
    void a_new_key_that_was_granted_between_look_and_insert_is_refused() throws Exception {
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.stopBefore("INSERT", "syncguard_fence_counters");
        Future<List<@Nullable AcquireResult>> batch =
                race.startBlocked(() -> batches.acquire(request("k", MINE), request("other", MINE)));

        race.grantShared(THEIRS);
        race.greenLight();

        assertThat(batch.get().get(0)).isInstanceOf(AcquireResult.Refused.class);
        assertGranted(1, batch.get().subList(1, 2));
        assertThat(race.counters()).containsOnly(Map.entry("k", 1L), Map.entry("other", 1L));
    }

    @Test
    void a_waiter_that_is_about_to_queue_is_woken_by_the_release_that_it_did_not_see() throws Exception {
        race.grant(THEIRS);
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<List<@Nullable AcquireResult>> batch =
                race.startBlocked(() -> batches.acquire(request("k", MINE).waitingAs(1)));
        Future<ReleaseResult> release = race.startRelease(THEIRS);

        race.greenLight();

        assertThat(batch.get()).hasOnlyElementsOfType(AcquireResult.Queued.class);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_waiter_whose_key_is_released_before_it_queues_is_granted_it() throws Exception {
        race.grant(THEIRS);
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.stopBeforeCall("syncguard_locks_lock_key");
        Future<List<@Nullable AcquireResult>> batch =
                race.startBlocked(() -> batches.acquire(request("k", MINE).waitingAs(1)));

        race.backend.release(THEIRS);
        race.greenLight();

        assertGranted(2, batch.get());
        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void a_waiter_whose_serialising_row_is_locked_is_skipped_and_not_waited_for() throws Exception {
        race.grant(THEIRS);
        race.lockSerialisingRow();

        assertThat(batches.acquire(request("k", MINE).waitingAs(1))).containsOnlyNulls();

        race.commitOther();
        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void a_lease_has_its_whole_ttl_from_the_lock_on() throws Exception {
        makeFree("k");
        Future<List<@Nullable AcquireResult>> batch = startBatchThatStopsBeforeItLocks("k");

        race.moveClock(Duration.ofSeconds(5));
        race.greenLight();

        assertThat(batch.get())
                .singleElement()
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.expiresAt().toEpochMilli()).isEqualTo(race.now() + TTL.toMillis()));
    }

    /** The one wait that SKIP LOCKED does not avoid. Each request then goes alone. */
    @Test
    void behind_the_first_insert_of_a_counter_a_batch_fails_soon_and_leaves_nothing_behind() throws Exception {
        makeFree("k");
        race.inOther("INSERT INTO syncguard_fence_counters VALUES ('fence:new', 1, 'new')");
        long began = System.nanoTime();

        assertTimesOut(() -> batches.acquire(request("k", MINE), request("a new one", MINE), request("new", MINE)));

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
        assertThat(race.leases()).isEmpty();
        assertThat(race.counters()).containsOnly(Map.entry("k", 1L));
        assertThat(race.jdbc.queryForObject("SHOW lock_timeout", String.class)).isNotEqualTo("20ms");
        race.commitOther();
    }

    @Test
    void new_keys_in_opposite_orders_do_not_deadlock() throws Exception {
        try (PostgresRace own = new PostgresRace()) {
            own.functions.setPatient("acquire_batch", "acquire_free_batch");
            PostgresBatches batches = new PostgresBatches(own);
            for (int round = 0; round < 100; round++) {
                String prefix = "round " + round + " key ";
                List<AcquireRequest> upwards = requests(prefix, MINE);
                List<AcquireRequest> downwards = requests(prefix, THEIRS);
                Collections.reverse(downwards);
                Future<List<@Nullable AcquireResult>> other = start(() -> batches.acquire(downwards));
                batches.acquire(upwards);
                other.get();
            }

            assertThat(own.counters()).hasSize(100 * 30);
            assertThat(own.counters().values()).containsOnly(1L);
            assertThat(own.leases()).hasSize(100 * 30);
            assertThat(own.closeAndCount("deadlocks")).isZero();
        }
    }

    @Test
    void overlapping_batches_of_many_clients_draw_each_fence_once_and_never_deadlock() throws Exception {
        try (PostgresRace own = new PostgresRace()) {
            own.tickingClock(Duration.ofMillis(1));
            own.functions.setPatient("acquire_batch", "acquire_free_batch");
            own.functions.setPatient("release_batch");
            PostgresBatches batches = new PostgresBatches(own);
            RaceHistory history = new RaceHistory();
            // A batch that inserts a counter may wait for one that has locked it since, and that one for another
            // insert.
            // Without the patience the time limit ends that.
            own.jdbc.execute("INSERT INTO syncguard_fence_counters (fence_key, key_debug)"
                    + " SELECT 'fence:key ' || n, 'key ' || n FROM generate_series(10, 39) n");
            List<Future<Integer>> clients = IntStream.range(0, 6)
                    .mapToObj(client -> start(() -> acquireAndReleaseBatches(batches, history, client)))
                    .toList();
            int grants = 0;
            for (Future<Integer> client : clients) {
                grants += client.get();
            }

            assertThat(grants).isGreaterThan(100);
            history.check(own.counters());
            assertThat(own.closeAndCount("deadlocks")).isZero();
        }
    }

    private static int acquireAndReleaseBatches(PostgresBatches batches, RaceHistory history, int client) {
        Random random = new Random(client);
        int grants = 0;
        for (int round = 0; round < 60; round++) {
            List<AcquireRequest> some = requests("key ", "client " + client + " round " + round);
            Collections.shuffle(some, random);
            some = some.subList(0, 10);
            List<@Nullable AcquireResult> results = batches.acquire(some);
            List<RaceHistory.Lease> leases = new ArrayList<>();
            for (int i = 0; i < results.size(); i++) {
                if (results.get(i) instanceof AcquireResult.Granted grant) {
                    history.granted(some.get(i).key(), some.get(i).lockId(), grant);
                    grants++;
                }
            }
            for (RaceHistory.Lease lease : history.last(Integer.MAX_VALUE)) {
                if (some.stream().anyMatch(request -> request.lockId().equals(lease.lockId))) {
                    leases.add(lease);
                }
            }
            releaseAll(batches, leases);
        }
        return grants;
    }

    /** Sends those again that were skipped. */
    private static void releaseAll(PostgresBatches batches, List<RaceHistory.Lease> leases) {
        List<RaceHistory.Lease> open = leases;
        while (!open.isEmpty()) {
            List<RaceHistory.Lease> sent = open;
            List<?> results =
                    batches.release(sent.stream().map(lease -> lease.lockId).toList());
            IntStream.range(0, sent.size())
                    .filter(i -> results.get(i) != null)
                    .forEach(i -> sent.get(i).released());
            open = sent.stream().filter(lease -> !lease.isReleased()).toList();
        }
    }

    private static List<AcquireRequest> requests(String prefix, String caller) {
        return IntStream.range(10, 40)
                .mapToObj(i -> request(prefix + i, caller))
                .collect(Collectors.toList());
    }

    /** Counters that exist, of keys without a lease. */
    private void makeFree(String... keys) {
        for (String key : keys) {
            race.backend.acquire(Requests.exclusive(key, "first of " + key, TTL, "test"));
            race.backend.release("first of " + key);
        }
    }

    private Future<List<@Nullable AcquireResult>> startBatchThatStopsBeforeItLocks(String... keys) throws Exception {
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.stopBeforeCall("syncguard_locks_last_fence");
        List<AcquireRequest> requests = IntStream.range(0, keys.length)
                .mapToObj(i -> request(keys[i], MINE))
                .toList();
        return race.startBlocked(() -> batches.acquire(requests));
    }
}
