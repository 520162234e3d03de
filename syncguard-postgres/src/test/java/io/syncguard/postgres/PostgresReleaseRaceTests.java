package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.assertTimesOut;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.start;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A release ends the lease of its own lock id once, and no other lease, whatever happens while it waits or stalls. */
class PostgresReleaseRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @BeforeEach
    void holdALock() {
        race.grant(MINE);
    }

    @Test
    void a_release_that_meets_a_takeover_leaves_the_next_holders_lease_alone() throws Exception {
        race.stopBeforeCall("syncguard_locks_fence_key");
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.moveClock(PAST_THE_TTL);
        race.grant(THEIRS);
        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
    }

    /** Another version of the functions might take the lease over in this way. */
    @Test
    void a_release_looks_at_the_lock_id_again_and_not_at_the_key() throws Exception {
        race.lockSerialisingRow();
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.inOther("UPDATE syncguard_locks SET lock_id = '" + THEIRS + "'");
        race.commitOther();

        assertThat(release.get()).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
    }

    @Test
    void a_lease_that_lapses_while_its_release_waits_has_expired() throws Exception {
        race.lockSerialisingRow();
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.moveClock(PAST_THE_TTL);
        race.commitOther();

        assertThat(release.get()).isEqualTo(ReleaseResult.EXPIRED);
    }

    @Test
    void a_takeover_that_meets_a_release_waits_for_it() throws Exception {
        race.stopBefore("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(MINE);
        race.moveClock(PAST_THE_TTL);
        Future<AcquireResult> takeover = race.startAcquire(request(THEIRS));

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.EXPIRED);
        assertThat(takeover.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence()).isEqualTo(new Fence(2)));
    }

    @Test
    void of_two_releases_at_once_one_has_released() throws Exception {
        race.lockSerialisingRow();
        Future<ReleaseResult> first = start(() -> race.backend.release(MINE));
        Future<ReleaseResult> second = start(() -> race.backend.release(MINE));
        race.awaitBlocked(2);

        race.commitOther();

        assertThat(List.of(first.get(), second.get()))
                .containsExactlyInAnyOrder(ReleaseResult.RELEASED, ReleaseResult.NOT_FOUND);
    }

    /** The answer to the first release was lost, and its client repeats it when the key has another holder. */
    @Test
    void a_release_that_is_repeated_after_the_next_grant_frees_nothing() throws Exception {
        race.stopBeforeCall("syncguard_locks_fence_key");
        Future<ReleaseResult> again = race.startRelease(MINE);
        race.inOther("SELECT syncguard_locks_release('" + MINE + "')");
        race.commitOther();
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));

        race.greenLight();

        assertThat(again.get()).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
    }

    @Test
    void an_extension_in_the_middle_of_a_release_brings_nothing_back() throws Exception {
        race.stopAfter("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(MINE);

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(race.leases()).isEmpty();
    }

    @Test
    void a_release_that_stalls_ends_what_was_extended_meanwhile() throws Exception {
        race.stopBefore("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(MINE);

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        race.moveClock(TTL);
        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.leases()).isEmpty();
    }

    @Test
    void a_release_in_the_middle_of_an_extension_is_busy_and_the_next_one_ends_the_lease() throws Exception {
        race.stopExtensionBeforeItWrites("syncguard_locks");
        Future<ExtendResult> extension = race.startExtend(MINE);

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.BUSY);
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.leases()).isEmpty();
    }

    @Test
    void the_release_of_a_pinned_row_is_busy_and_does_not_wait() throws Exception {
        race.pinWriter();

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.BUSY);

        race.commitOther();
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void the_release_of_a_pinned_row_whose_lease_has_lapsed_is_no_reason_to_ask_again() throws Exception {
        race.moveClock(PAST_THE_TTL);
        race.pinWriter();

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.EXPIRED);
    }

    @Test
    void a_serialising_row_that_stays_locked_is_an_error_and_the_lease_stays() throws Exception {
        try (PostgresRace impatient = PostgresRace.impatient()) {
            impatient.grant(MINE);
            impatient.lockSerialisingRow();

            assertTimesOut(() -> impatient.backend.release(MINE));

            assertThat(impatient.backend.lookupById(MINE)).isPresent();
            impatient.commitOther();
            assertThat(impatient.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    @Test
    void a_pinned_row_that_is_to_be_held_for_a_time_is_busy_and_does_not_wait() throws Exception {
        race.pinWriter();

        assertThat(race.backend.releaseAfter(MINE, TTL)).isEqualTo(ReleaseResult.BUSY);

        race.commitOther();
        assertThat(race.backend.releaseAfter(MINE, TTL)).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_pinned_reader_that_is_to_be_held_for_a_time_is_busy_and_does_not_wait() throws Exception {
        race.backend.release(MINE);
        race.grantShared(THEIRS);
        race.pinReaders();

        assertThat(race.backend.releaseAfter(THEIRS, TTL)).isEqualTo(ReleaseResult.BUSY);

        race.commitOther();
        assertThat(race.backend.releaseAfter(THEIRS, TTL)).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_caller_who_is_about_to_queue_learns_that_the_lease_ends_earlier() throws Exception {
        race.lockSerialisingRow();
        Future<AcquireResult> waiter = race.startAcquire(request(THEIRS).waitingAs(1));
        Future<ReleaseResult> release = race.startBlocked(() -> race.backend.releaseAfter(MINE, TTL.dividedBy(2)));

        race.commitOther();

        assertThat(waiter.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_lease_that_lapses_while_it_is_to_be_held_for_a_time_has_expired() throws Exception {
        race.lockSerialisingRow();
        Future<ReleaseResult> release = race.startBlocked(() -> race.backend.releaseAfter(MINE, TTL.multipliedBy(9)));

        race.moveClock(PAST_THE_TTL);
        race.commitOther();

        assertThat(release.get()).isEqualTo(ReleaseResult.EXPIRED);
    }

    @Test
    void an_extension_that_comes_after_the_release_does_not_make_the_time_to_hold_longer() throws Exception {
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);

        assertThat(race.backend.releaseAfter(MINE, TTL.dividedBy(2))).isEqualTo(ReleaseResult.RELEASED);
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.NotFound.class);
        race.moveClock(TTL.dividedBy(2));
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
    }
}
