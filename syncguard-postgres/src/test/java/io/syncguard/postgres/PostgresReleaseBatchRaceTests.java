package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A batch of releases ends live leases that nobody waits for. Of all others it leaves the lease and the queue as they
 * are, and it waits for nobody.
 */
class PostgresReleaseBatchRaceTests {

    private static final String ANOTHER = "another---------------";
    private static final String READER = "reader----------------";

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    private final PostgresBatches batches = new PostgresBatches(race);

    @BeforeEach
    void holdTwoLocks() {
        race.grant(MINE);
        acquire(Requests.exclusive("another", ANOTHER, TTL, "test"));
    }

    @Test
    void live_leases_of_both_modes_are_released_once() {
        acquire(Requests.shared("read", READER, TTL, "test"));
        acquire(Requests.shared("read", "second reader", TTL, "test"));

        assertThat(batches.release("second reader", MINE, "nobody's", ANOTHER, READER))
                .containsExactly(
                        ReleaseResult.RELEASED,
                        ReleaseResult.RELEASED,
                        null,
                        ReleaseResult.RELEASED,
                        ReleaseResult.RELEASED);
        assertThat(batches.release(MINE, READER)).containsOnlyNulls();

        assertThat(race.leases()).isEmpty();
        assertThat(race.readers()).isEmpty();
        assertThat(race.counter()).as("a release draws no fence").isEqualTo(1);
    }

    @Test
    void a_lapsed_lease_is_not_released() {
        acquire(Requests.shared("read", READER, TTL, "test"));
        race.moveClock(PAST_THE_TTL);

        assertThat(batches.release(MINE, READER)).containsOnlyNulls();

        assertThat(race.writers()).contains(MINE);
        assertThat(race.readers()).contains(READER);
    }

    @Test
    void a_lease_that_somebody_waits_for_is_released_alone_and_the_waiter_woken() throws Exception {
        race.queue(request(THEIRS), 1);

        assertThat(batches.release(MINE, ANOTHER)).containsExactly(null, ReleaseResult.RELEASED);

        assertThat(race.writers()).containsExactly(MINE);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_reader_whom_somebody_waits_for_is_released_alone() {
        race.backend.release(MINE);
        race.grantShared(READER);
        race.queue(request(THEIRS), 1);

        assertThat(batches.release(READER, ANOTHER)).containsExactly(null, ReleaseResult.RELEASED);
        assertThat(race.readers()).containsExactly(READER);
    }

    @Test
    void a_queue_entry_is_left_alone() {
        race.queue(request(THEIRS), 1);

        assertThat(batches.release(THEIRS)).containsOnlyNulls();
        assertThat(race.waiters()).containsExactly(THEIRS);
    }

    @Test
    void a_lease_whose_serialising_row_is_locked_is_skipped_at_once() throws Exception {
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR UPDATE");

        assertThat(batches.release(MINE, ANOTHER)).containsExactly(null, ReleaseResult.RELEASED);
        assertThat(race.writers()).containsExactly(MINE);
    }

    @Test
    void a_reader_whose_serialising_row_is_locked_is_skipped_at_once() throws Exception {
        race.backend.release(MINE);
        race.grantShared(READER);
        acquire(Requests.shared("read", "second reader", TTL, "test"));
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR UPDATE");

        assertThat(batches.release(READER, "second reader")).containsExactly(null, ReleaseResult.RELEASED);
        assertThat(race.readers()).containsExactly(READER);
    }

    @Test
    void other_readers_of_the_key_keep_their_leases() {
        race.backend.release(MINE);
        race.grantShared(READER);
        race.grantShared(THEIRS);

        assertThat(batches.release(READER)).containsExactly(ReleaseResult.RELEASED);
        assertThat(race.readers()).containsExactly(THEIRS);
    }

    @Test
    void a_waiter_that_is_about_to_queue_is_not_missed() throws Exception {
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<AcquireResult> waiter = race.startAcquire(request(THEIRS).waitingAs(1));

        assertThat(batches.release(MINE)).containsOnlyNulls();
        race.greenLight();

        assertThat(waiter.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_waiter_that_queues_between_look_and_lock_is_not_missed() throws Exception {
        Future<List<@Nullable ReleaseResult>> release = startReleaseThatStopsBeforeItLocks(MINE, ANOTHER);

        race.queue(request(THEIRS), 1);
        race.greenLight();

        assertThat(release.get()).containsExactly(null, ReleaseResult.RELEASED);
        assertThat(race.writers()).containsExactly(MINE);
    }

    @Test
    void a_takeover_between_look_and_lock_keeps_its_lease() throws Exception {
        Future<List<@Nullable ReleaseResult>> release = startReleaseThatStopsBeforeItLocks(MINE);

        race.moveClock(PAST_THE_TTL);
        race.grant(THEIRS);
        race.greenLight();

        assertThat(release.get()).containsOnlyNulls();
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
    }

    @Test
    void the_next_holder_after_a_release_that_was_repeated_keeps_its_lease() throws Exception {
        Future<List<@Nullable ReleaseResult>> again = startReleaseThatStopsBeforeItLocks(MINE);

        race.inOther("SELECT syncguard_locks_release('" + MINE + "')");
        race.commitOther();
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
        race.greenLight();

        assertThat(again.get()).containsOnlyNulls();
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
    }

    @Test
    void a_pinned_lease_is_skipped_and_not_waited_for() throws Exception {
        race.inOther("SELECT FROM syncguard_locks WHERE lock_id = '" + MINE + "' FOR KEY SHARE");

        assertThat(batches.release(MINE, ANOTHER)).containsExactly(null, ReleaseResult.RELEASED);

        race.commitOther();
        assertThat(batches.release(MINE)).containsExactly(ReleaseResult.RELEASED);
    }

    @Test
    void a_pinned_reader_is_skipped_and_not_waited_for() throws Exception {
        race.backend.release(MINE);
        race.grantShared(READER);
        race.pinReaders();

        assertThat(batches.release(READER, ANOTHER)).containsExactly(null, ReleaseResult.RELEASED);

        race.commitOther();
        assertThat(batches.release(READER)).containsExactly(ReleaseResult.RELEASED);
    }

    @Test
    void a_lease_that_is_being_extended_is_skipped_and_its_extension_counts() throws Exception {
        race.stopExtensionBeforeItWrites("syncguard_locks");
        Future<ExtendResult> extension = race.startExtend(MINE);

        assertThat(batches.release(MINE, ANOTHER)).containsExactly(null, ReleaseResult.RELEASED);
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Extended.class);
        assertThat(batches.release(MINE)).containsExactly(ReleaseResult.RELEASED);
    }

    private static void acquire(AcquireRequest request) {
        assertThat(race.backend.acquire(request)).isInstanceOf(AcquireResult.Granted.class);
    }

    /** The snapshot of the statement that finds the keys and locks their rows exists. */
    private Future<List<@Nullable ReleaseResult>> startReleaseThatStopsBeforeItLocks(String... lockIds)
            throws Exception {
        race.functions.setPatient("release_batch");
        race.stopBeforeCall("syncguard_locks_fence_key");
        return race.startBlocked(() -> batches.release(lockIds));
    }
}
