package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A holder that takes the next fence stalls at any step: no other holder has that fence, no lease is revived, and the
 * rotation waits for no other session.
 */
class PostgresFenceRotationRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @BeforeEach
    void holdALock() {
        race.grant(MINE);
    }

    @Test
    void a_rotation_that_stalls_before_it_locks_anything_finds_the_next_holder_and_leaves_it_alone() throws Exception {
        race.stopBeforeCall("syncguard_locks_fence_key");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        race.moveClock(PAST_THE_TTL);
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
        List<Map<String, Object>> leases = race.leases();
        race.greenLight();

        assertThat(rotation.get()).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(race.leases()).isEqualTo(leases);
        assertThat(race.counter()).isEqualTo(2);
    }

    @Test
    void a_takeover_waits_for_a_rotation_that_finds_its_lease_over_and_takes_the_key_with_the_next_fence()
            throws Exception {
        race.stopBeforeCall("syncguard_locks_now");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        race.moveClock(PAST_THE_TTL);
        Future<AcquireResult> takeover = race.startAcquire(request(THEIRS));
        race.greenLight();

        assertThat(rotation.get()).isInstanceOf(ExtendResult.Expired.class);
        assertThat(takeover.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence()).isEqualTo(new Fence(2)));
    }

    @Test
    void a_rotation_that_stalls_with_its_row_locked_revives_nothing_and_takes_no_fence() throws Exception {
        race.stopBeforeCall("syncguard_locks_now");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        race.moveClock(PAST_THE_TTL);
        race.greenLight();

        assertThat(rotation.get()).isInstanceOf(ExtendResult.Expired.class);
        assertThat(race.counter()).isEqualTo(1);
    }

    @Test
    void a_takeover_that_waits_for_a_rotation_is_refused_and_gives_its_fence_back() throws Exception {
        race.moveClock(PAST_THE_TTL.dividedBy(2));
        race.stopBefore("UPDATE", "syncguard_fence_counters");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        race.moveClock(PAST_THE_TTL.dividedBy(2));
        Future<AcquireResult> takeover = race.startAcquire(request(THEIRS));
        race.greenLight();

        assertRotated(rotation.get(), 2);
        assertThat(takeover.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.writers()).containsExactly(MINE);
        assertThat(race.counter()).isEqualTo(2);
    }

    @Test
    void a_waiter_that_is_about_to_queue_waits_for_a_rotation_and_takes_its_queue_entry() throws Exception {
        race.stopBefore("UPDATE", "syncguard_fence_counters");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        Future<AcquireResult> waiter = race.startAcquire(request(THEIRS).waitingAs(1));
        race.greenLight();

        assertRotated(rotation.get(), 2);
        assertThat(waiter.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(race.waiters()).containsExactly(THEIRS);
        assertThat(race.counter()).isEqualTo(2);
    }

    @Test
    void a_rotation_in_the_middle_of_a_takeover_does_not_wait_and_takes_no_fence() throws Exception {
        race.moveClock(PAST_THE_TTL);
        race.stopBeforeRow("INSERT", "syncguard_locks");
        Future<AcquireResult> takeover = race.startAcquire(request(THEIRS));

        assertThat(race.rotate(MINE)).isInstanceOf(ExtendResult.Expired.class);
        // This holds even if the clock makes the lease live again.
        race.moveClock(PAST_THE_TTL.negated());
        assertThat(race.rotate(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertThat(takeover.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence()).isEqualTo(new Fence(2)));
        assertThat(race.rotate(MINE)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(race.counter()).isEqualTo(2);
    }

    @Test
    void a_rotation_passes_a_guarded_commit() throws Exception {
        race.pinWriter();

        assertRotated(race.rotate(MINE), 2);
    }

    @Test
    void a_lease_that_is_locked_otherwise_is_not_waited_for_and_takes_no_fence() throws Exception {
        race.inOther("SELECT FROM syncguard_locks FOR UPDATE");

        assertThat(race.rotate(MINE)).isInstanceOf(ExtendResult.Busy.class);
        assertThat(race.counter()).isEqualTo(1);

        race.rollbackOther();
        assertRotated(race.rotate(MINE), 2);
    }

    @Test
    void a_serialising_row_that_is_locked_is_not_waited_for() throws Exception {
        race.lockSerialisingRow();

        assertThat(race.rotate(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.moveClock(PAST_THE_TTL);
        assertThat(race.rotate(MINE)).as("the repeated rotation").isInstanceOf(ExtendResult.Expired.class);
    }

    @Test
    void a_release_that_waits_for_a_rotation_ends_the_lease() throws Exception {
        race.stopBefore("UPDATE", "syncguard_fence_counters");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        Future<ReleaseResult> release = race.startRelease(MINE);
        race.greenLight();

        assertRotated(rotation.get(), 2);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.leases()).isEmpty();
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(3));
    }

    @Test
    void a_heartbeat_in_the_middle_of_a_rotation_is_busy_and_loses_nothing() throws Exception {
        race.stopBefore("UPDATE", "syncguard_fence_counters");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertRotated(rotation.get(), 2);
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void two_rotations_of_one_lease_take_two_fences() throws Exception {
        race.stopBefore("UPDATE", "syncguard_fence_counters");
        Future<ExtendResult> rotation = race.startRotate(MINE);

        assertThat(race.rotate(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertRotated(rotation.get(), 2);
        assertRotated(race.rotate(MINE), 3);
    }

    private static void assertRotated(ExtendResult outcome, long fence) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        ExtendResult.Rotated.class,
                        rotated -> assertThat(rotated.fence()).isEqualTo(new Fence(fence)));
    }
}
