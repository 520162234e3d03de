package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.FIRST;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.SECOND;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Callers queue, leave or renew a queue entry while others release or request, are granted or woken: no wake-up is lost
 * between them.
 */
class PostgresQueueRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    /** The key is held, and there are no waiters. */
    @BeforeEach
    void prepare() {
        race.grant(MINE);
    }

    /** The short form of a release, and the long one. */
    private static List<KeyedLockId> releases() {
        return List.of(new KeyedLockId(PostgresRace.KEY, MINE), new KeyedLockId(MINE));
    }

    @ParameterizedTest
    @MethodSource("releases")
    void a_waiter_that_looked_before_a_release_was_committed_is_granted(KeyedLockId mine) throws Exception {
        race.stopAfter("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(mine);
        Future<AcquireResult> waiter = race.startAcquire(request(FIRST).waitingAs(1));

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(waiter.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.waiters()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("releases")
    void a_waiter_that_is_about_to_queue_is_woken_by_the_release_that_it_did_not_see(KeyedLockId mine)
            throws Exception {
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<AcquireResult> waiter = race.startAcquire(request(FIRST).waitingAs(1));
        Future<ReleaseResult> release = race.startRelease(mine);

        race.greenLight();

        assertThat(waiter.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_waiter_that_queues_behind_one_who_is_leaving_is_woken_or_first() throws Exception {
        race.queue(request(FIRST), 1);
        race.backend.release(MINE);
        race.woken();
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<AcquireResult> second = race.startAcquire(request(SECOND).waitingAs(2));
        Future<ReleaseResult> leaving = race.startRelease(FIRST);

        race.greenLight();

        assertThat(second.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(leaving.get()).isEqualTo(ReleaseResult.LEFT);
        assertThat(race.woken()).containsExactly(2L);
    }

    @Test
    void a_queue_entry_that_has_just_become_a_lease_is_released_and_not_left() throws Exception {
        race.queue(request(FIRST), 1);
        race.backend.release(MINE);
        race.stopBeforeRow("INSERT", "syncguard_locks");
        Future<AcquireResult> grant = race.startAcquire(request(FIRST).waitingAs(1));
        Future<ReleaseResult> release = race.startRelease(FIRST);

        race.greenLight();

        assertThat(grant.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.leases()).isEmpty();
        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void a_request_that_meets_its_own_leaving_has_a_queue_entry_at_the_end_or_a_grant() throws Exception {
        race.queue(request(FIRST), 1);
        race.queue(request(SECOND), 2);
        race.stopAfter("DELETE", "syncguard_locks_waiters");
        Future<ReleaseResult> leaving = race.startRelease(FIRST);
        Future<AcquireResult> again = race.startAcquire(request(FIRST).waitingAs(1));

        race.greenLight();

        assertThat(leaving.get()).isEqualTo(ReleaseResult.LEFT);
        assertThat(again.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(race.waiters()).containsExactly(SECOND, FIRST);
    }

    @Test
    void a_wake_up_for_one_who_has_just_left_goes_on_to_the_next() throws Exception {
        race.queue(request(FIRST), 1);
        race.queue(request(SECOND), 2);
        race.stopAfter("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(MINE);
        Future<ReleaseResult> leaving = race.startRelease(FIRST);

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(leaving.get()).isEqualTo(ReleaseResult.LEFT);
        assertThat(race.woken()).containsExactly(1L, 2L);
    }

    @Test
    void a_wake_up_that_finds_the_first_one_leaving_is_for_the_next() throws Exception {
        race.queue(request(FIRST), 1);
        race.queue(request(SECOND), 2);
        race.stopAfter("DELETE", "syncguard_locks_waiters");
        Future<ReleaseResult> leaving = race.startRelease(FIRST);
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.greenLight();

        assertThat(leaving.get()).isEqualTo(ReleaseResult.LEFT);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).contains(2L).doesNotContain(1L);
    }

    @Test
    void the_last_attempt_of_a_waiter_deletes_its_entry_and_wakes_grantable_waiters() throws Exception {
        race.backend.release(MINE);
        race.grantShared(MINE);
        race.queue(request(FIRST), 1);
        race.queue(reader(SECOND), 2);

        assertThat(race.backend.acquire(request(FIRST))).isInstanceOf(AcquireResult.Refused.class);

        assertThat(race.waiters()).containsExactly(SECOND);
        assertThat(race.woken()).containsExactly(2L);
    }

    @Test
    void a_try_beside_a_writer_gives_up_the_queue_entry_that_it_has() {
        race.queue(request(FIRST), 1);

        assertThat(race.backend.acquire(request(FIRST))).isInstanceOf(AcquireResult.Refused.class);

        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void arrival_counts_from_the_queue_entry_and_not_from_the_first_look() throws Exception {
        race.lockSerialisingRow();
        Future<AcquireResult> first = race.startAcquire(request(FIRST).waitingAs(1));
        race.inOther("SELECT syncguard_locks_acquire('k', false, 1, '" + SECOND
                + "', 600000, 'other', false, 2, 5000, false, 'race', NULL)");

        race.commitOther();

        assertThat(first.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(race.waiters()).containsExactly(SECOND, FIRST);
        race.backend.release(MINE);
        assertThat(race.woken()).containsExactly(2L);
    }

    @Test
    void a_waiter_takes_over_a_lapsed_lease_at_once() {
        race.moveClock(TTL.plusSeconds(1));

        assertThat(race.backend.acquire(request(FIRST).waitingAs(1))).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void a_reader_who_queues_behind_readers_looks_again_when_the_lease_ends() {
        race.queue(reader(FIRST), 1);

        assertThat(race.queue(reader(SECOND), 2).nextLook()).isEqualTo(TTL.plusSeconds(1));
    }

    @Test
    void a_request_of_who_has_a_queue_entry_keeps_it_and_does_not_go_to_the_end() throws Exception {
        race.queue(request(FIRST), 1);
        race.queue(request(SECOND), 2);
        race.moveClock(Duration.ofSeconds(4));

        assertThat(race.queue(request(FIRST), 1).nextLook())
                .isEqualTo(TTL.plusSeconds(1).minusSeconds(4));

        assertThat(race.waiters()).containsExactly(FIRST, SECOND);
        race.moveClock(Duration.ofSeconds(4));
        race.backend.release(MINE);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void who_has_lost_its_queue_entry_arrives_again_behind_the_others() throws Exception {
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofSeconds(4));
        race.queue(request(SECOND), 2);
        race.moveClock(Duration.ofSeconds(1));

        race.queue(request(FIRST), 1);

        assertThat(race.waiters()).containsExactly(SECOND, FIRST);
    }

    @Test
    void readers_next_to_each_other_enter_in_any_order_and_a_writer_behind_them_does_not() {
        race.queue(reader(FIRST), 1);
        race.queue(reader(SECOND), 2);
        race.queue(request("writer"), 3);
        race.queue(reader("behind"), 4);
        race.backend.release(MINE);

        race.queue(request("writer"), 3);
        race.queue(reader("behind"), 4);
        assertThat(race.backend.acquire(reader(SECOND).waitingAs(2))).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.backend.acquire(reader(FIRST).waitingAs(1))).isInstanceOf(AcquireResult.Granted.class);

        race.backend.release(FIRST);
        race.queue(request("writer"), 3);
        race.backend.release(SECOND);
        assertThat(race.backend.acquire(request("writer").waitingAs(3))).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void the_next_look_of_a_caller_who_queues_is_when_those_in_front_may_have_died() {
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofSeconds(1));

        assertThat(race.queue(request(SECOND), 2).nextLook()).isEqualTo(Duration.ofSeconds(4));
        race.backend.release(MINE);
        assertThat(race.queue(request(SECOND), 2).nextLook()).isEqualTo(Duration.ofSeconds(4));
    }

    @Test
    void the_next_look_of_a_caller_who_queues_behind_a_dead_waiter_is_about_the_live_ones() throws Exception {
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofSeconds(3));
        race.queue(request(SECOND), 2);
        race.moveClock(Duration.ofSeconds(3));

        assertThat(race.queue(request("third"), 3).nextLook()).isEqualTo(Duration.ofSeconds(2));
        assertThat(race.renewWaiters("third")).containsExactly(Duration.ofSeconds(2));
    }

    @Test
    void a_waiter_whose_key_has_no_fences_left_when_it_becomes_free_gets_an_error() throws Exception {
        race.queue(request(FIRST), 1);
        race.setCounters(900_000_000_000_000L);
        race.stopAfter("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(MINE);
        Future<AcquireResult> waiter = race.startAcquire(request(FIRST).waitingAs(1));

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThatThrownBy(waiter::get)
                .cause()
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        cause -> assertThat(cause.code()).isEqualTo(LockErrorCode.INTERNAL));
        assertThat(race.leases()).isEmpty();
        assertThat(race.counter()).isEqualTo(900_000_000_000_000L);
    }
}
