package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.FIRST;
import static io.syncguard.postgres.PostgresRace.FOURTH;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.SECOND;
import static io.syncguard.postgres.PostgresRace.THIRD;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A queue entry that lapses during its renewal either is renewed and stays in front, or is gone and the next waiter is
 * woken.
 */
class PostgresQueueEntryRaceTests {

    private static final String RENEW_FIRST = "SELECT syncguard_locks_renew_waiters(ARRAY['" + FIRST + "'])";

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    /** The key is held, two callers wait, and the queue entry of the first ends in a second. */
    @BeforeEach
    void prepare() {
        race.grant(MINE);
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofSeconds(4));
        race.queue(request(SECOND), 2);
    }

    @Test
    void a_wake_up_that_meets_a_queue_entry_which_is_being_renewed_waits_and_is_for_that_one() throws Exception {
        race.inOther(RENEW_FIRST);
        race.moveClock(Duration.ofSeconds(2));
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.commitOther();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
        assertThat(race.waiters()).containsExactly(FIRST, SECOND);
        assertThat(race.backend.acquire(request(FIRST).waitingAs(1))).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void a_wake_up_that_meets_a_queue_entry_which_was_not_renewed_after_all_is_for_the_next() throws Exception {
        race.inOther(RENEW_FIRST);
        race.moveClock(Duration.ofSeconds(2));
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.rollbackOther();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(2L);
        assertThat(race.waiters()).containsExactly(SECOND);
    }

    @Test
    void a_queue_entry_that_is_deleted_before_it_could_be_renewed_does_not_come_back() throws Exception {
        race.stopBefore("UPDATE", "syncguard_locks_waiters");
        Future<List<Duration>> renewal = race.startBlocked(() -> race.renewWaiters(FIRST));

        race.moveClock(Duration.ofSeconds(2));
        race.backend.release(MINE);
        race.greenLight();

        assertThat(renewal.get()).as("its queue entry is lost").containsExactly(Duration.ZERO);
        assertThat(race.waiters()).containsExactly(SECOND);
        assertThat(race.woken()).containsExactly(2L);
    }

    @Test
    void a_queue_entry_that_has_lapsed_is_not_renewed() {
        race.moveClock(Duration.ofSeconds(1));

        assertThat(race.renewWaiters(FIRST, SECOND))
                .containsExactly(Duration.ZERO, TTL.plusSeconds(1).minusSeconds(5));

        race.moveClock(Duration.ofSeconds(-1));
        assertThat(race.renewWaiters(SECOND)).containsExactly(Duration.ofSeconds(1));
    }

    @Test
    void queue_entries_that_are_renewed_do_not_wait_for_one_that_is_locked_nor_for_the_serialising_row()
            throws Exception {
        race.moveClock(Duration.ofMillis(900));
        race.lockSerialisingRow();
        race.inOther("SELECT FROM syncguard_locks_waiters WHERE lock_id = '" + FIRST + "' FOR UPDATE");

        race.renewWaiters(FIRST, SECOND);

        assertThat(race.jdbc.queryForList(
                        "SELECT expires_at_ms - syncguard_locks_now() FROM syncguard_locks_waiters ORDER BY arrival",
                        Long.class))
                .containsExactly(100L, 5000L);
    }

    @Test
    void the_next_look_of_a_waiter_is_when_the_first_of_those_in_front_may_have_died() {
        race.queue(reader(THIRD), 3);

        assertThat(race.renewWaiters(THIRD, SECOND, FIRST))
                .as("the first waits for the lease, the others for those in front")
                .containsExactly(
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(5),
                        TTL.plusSeconds(1).minusSeconds(4));
    }

    @Test
    void adjacent_readers_are_grantable_together_and_a_waiter_behind_looks_at_those_in_front() {
        race.queue(reader(THIRD), 3);
        race.queue(reader(FOURTH), 4);
        race.backend.release(FIRST);
        race.backend.release(SECOND);
        race.queue(request(FIRST), 5);
        race.moveClock(TTL);
        race.jdbc.update("UPDATE syncguard_locks_waiters SET expires_at_ms = syncguard_locks_now() + 100");

        assertThat(race.renewWaiters(THIRD, FOURTH, FIRST))
                .as("the lease has lapsed, though its row exists")
                .containsExactly(Duration.ZERO, Duration.ZERO, Duration.ofSeconds(5));
    }

    @Test
    void a_grant_leaves_no_queue_entry_behind_that_lapsed_while_it_was_being_renewed() throws Exception {
        race.moveClock(TTL.minusSeconds(4).plusMillis(900));
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofMillis(4500));
        race.inOther(RENEW_FIRST);
        race.moveClock(Duration.ofSeconds(1));
        Future<AcquireResult> grant = race.startAcquire(request(FIRST).waitingAs(1));

        race.commitOther();

        assertThat(grant.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.waiters())
                .as("a lapsed entry in front of later waiters")
                .doesNotContain(FIRST);
    }
}
