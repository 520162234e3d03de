package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.assertTimesOut;
import static io.syncguard.postgres.PostgresReadersBatchTests.fence;
import static io.syncguard.postgres.PostgresReadersBatchTests.reader;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A batch of readers that meets others at its keys passes none of them, waits for none, and grants the rest. */
class PostgresReadersBatchRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    private final PostgresBatches batches = new PostgresBatches(race);

    /** Keys with counters. */
    @BeforeEach
    void grantOnce() {
        race.grant(THEIRS);
        race.backend.release(THEIRS);
        batches.acquire(PostgresBatches.request("other", THEIRS));
        batches.release(PostgresBatches.lockId("other", THEIRS));
    }

    @Test
    void a_key_that_a_writer_was_granted_between_look_and_lock_is_refused() throws Exception {
        Future<List<@Nullable AcquireResult>> batch = startBatchThatStopsBeforeItLocks();

        race.grant(THEIRS);
        race.greenLight();

        assertRefusedAndGranted(batch);
    }

    @Test
    void a_key_that_a_writer_queued_for_between_look_and_lock_is_refused() throws Exception {
        Future<List<@Nullable AcquireResult>> batch = startBatchThatStopsBeforeItLocks();

        race.grant(THEIRS);
        race.queue(RaceDatabase.request("writer"), 1);
        race.jdbc.update("DELETE FROM syncguard_locks");
        race.greenLight();

        assertRefusedAndGranted(batch);
    }

    @Test
    void a_key_whose_grant_is_not_committed_when_the_batch_looks_is_skipped() throws Exception {
        race.inOther("SELECT syncguard_locks_acquire('k', false, 1, '" + THEIRS
                + "', 30000, 'test', false, NULL, NULL, NULL, NULL, NULL)");

        List<@Nullable AcquireResult> results = batches.acquire(reader("k", MINE), reader("other", MINE));

        race.commitOther();
        assertThat(results.get(0)).isNull();
        assertThat(fence(results.get(1))).isEqualTo(2);
    }

    @Test
    void a_lease_has_its_whole_ttl_from_the_lock_on() throws Exception {
        Future<List<@Nullable AcquireResult>> batch = startBatchThatStopsBeforeItLocks();

        race.moveClock(Duration.ofSeconds(5));
        race.greenLight();

        assertThat(batch.get())
                .allSatisfy(result -> assertThat(result)
                        .isInstanceOfSatisfying(
                                AcquireResult.Granted.class,
                                grant -> assertThat(grant.expiresAt().toEpochMilli())
                                        .isEqualTo(race.now() + TTL.toMillis())));
    }

    /** The grant deletes the entry. Each request then goes alone. */
    @Test
    void behind_a_renewal_of_an_entry_a_batch_fails_soon_and_leaves_nothing_behind() throws Exception {
        race.grant(THEIRS);
        AcquireRequest queued = reader("k", MINE);
        race.queue(queued, 1);
        race.backend.release(THEIRS);
        race.inOther("SELECT FROM syncguard_locks_waiters FOR NO KEY UPDATE");

        assertTimesOut(() -> batches.acquire(queued.fromQueue(), reader("other", MINE)));

        race.commitOther();
        assertThat(race.leases()).isEmpty();
        assertThat(race.waiters()).containsExactly(queued.lockId());
        assertThat(race.counters()).containsEntry("k", 2L).containsEntry("other", 1L);
        assertThat(race.jdbc.queryForObject("SHOW lock_timeout", String.class)).isNotEqualTo("20ms");
    }

    private Future<List<@Nullable AcquireResult>> startBatchThatStopsBeforeItLocks() throws Exception {
        // A batch that stops waits for a lock, and would not wait for long.
        race.functions.setPatient("acquire_readers");
        race.stopBeforeCall("syncguard_locks_lock_keys");
        return race.startBlocked(() -> batches.acquire(reader("k", MINE), reader("other", MINE)));
    }

    private static void assertRefusedAndGranted(Future<List<@Nullable AcquireResult>> batch) throws Exception {
        assertThat(batch.get().get(0)).isInstanceOf(AcquireResult.Refused.class);
        assertThat(fence(batch.get().get(1))).isEqualTo(2);
    }
}
