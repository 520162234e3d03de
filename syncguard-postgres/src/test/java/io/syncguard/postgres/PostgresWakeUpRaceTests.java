package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.FIRST;
import static io.syncguard.postgres.PostgresRace.FOURTH;
import static io.syncguard.postgres.PostgresRace.KEY;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.SECOND;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.THIRD;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.start;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A change that makes waiters grantable wakes them, and no others: releases, extensions that shorten, sweeps. */
class PostgresWakeUpRaceTests {

    private static final Duration SHORTER = Duration.ofSeconds(1);

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @Test
    void the_last_reader_wakes_the_writer_and_an_earlier_one_does_not() throws Exception {
        race.grantShared(MINE);
        race.grantShared(THEIRS);
        race.queue(request(FIRST), 1);

        race.backend.release(MINE);
        assertThat(race.woken()).isEmpty();

        race.backend.release(THEIRS);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void of_two_readers_who_release_at_once_the_last_wakes_the_writer() throws Exception {
        race.grantShared(MINE);
        race.grantShared(THEIRS);
        race.queue(request(FIRST), 1);
        race.lockSerialisingRow();
        Future<ReleaseResult> mine = start(() -> race.backend.release(MINE));
        Future<ReleaseResult> theirs = start(() -> race.backend.release(THEIRS));
        race.awaitBlocked(2);

        race.commitOther();

        assertThat(List.of(mine.get(), theirs.get())).containsOnly(ReleaseResult.RELEASED);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_reader_that_lapsed_does_not_keep_the_writer_asleep() throws Exception {
        race.grantShared(MINE);
        race.moveClock(TTL);
        race.grantShared(THEIRS);
        race.moveClock(Duration.ofMillis(999));
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofMillis(1));

        race.backend.release(THEIRS);

        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void readers_next_to_each_other_are_woken_together_and_none_behind_a_writer() throws Exception {
        race.grant(MINE);
        race.queue(reader(FIRST), 1);
        race.queue(reader(SECOND), 2);
        race.queue(request(THIRD), 3);
        race.queue(reader(FOURTH), 4);

        race.backend.release(MINE);

        assertThat(race.woken()).containsExactly(1L, 2L);
    }

    @Test
    void a_writer_in_front_is_woken_alone() throws Exception {
        race.grant(MINE);
        race.queue(request(FIRST), 1);
        race.queue(request(SECOND), 2);
        race.queue(reader(THIRD), 3);

        race.backend.release(MINE);

        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void one_who_leaves_wakes_nobody_in_front() throws Exception {
        race.grant(MINE);
        race.queue(request(FIRST), 1);
        race.queue(request(SECOND), 2);
        race.queue(request(THIRD), 3);

        race.backend.release(SECOND);

        assertThat(race.woken()).isEmpty();
    }

    @Test
    void a_reader_who_leaves_wakes_no_other_reader_and_the_last_one_the_writer_behind_it() throws Exception {
        race.grant(MINE);
        race.queue(reader(FIRST), 1);
        race.queue(reader(SECOND), 2);
        race.queue(request(THIRD), 3);

        race.backend.release(FIRST);
        assertThat(race.woken()).isEmpty();

        race.backend.release(SECOND);
        assertThat(race.woken()).containsExactly(3L);
    }

    @Test
    void nobody_is_woken_for_another_key() throws Exception {
        race.grant(MINE);
        race.queue(request(FIRST), 1);
        race.backend.acquire(Requests.exclusive("another", THEIRS, TTL, "test"));

        race.backend.release(THEIRS);

        assertThat(race.woken()).isEmpty();
    }

    @Test
    void an_extension_that_shortens_wakes_the_first_and_one_that_does_not_wakes_nobody() throws Exception {
        race.grant(MINE);
        race.queue(request(FIRST), 1);
        race.queue(reader(SECOND), 2);

        race.extend(MINE, TTL);
        race.extend(MINE, TTL.plusMillis(1));
        assertThat(race.woken()).isEmpty();

        race.extend(MINE, TTL);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_reader_that_shortens_its_lease_wakes_the_writer() throws Exception {
        race.grantShared(MINE);
        race.queue(request(FIRST), 1);

        race.extend(MINE, SHORTER);

        assertThat(race.woken()).containsExactly(1L);
        assertThat(race.queue(request(FIRST), 1).nextLook()).isEqualTo(SHORTER.plusSeconds(1));
    }

    @Test
    void one_who_queues_while_the_lease_is_shortened_is_woken() throws Exception {
        race.grant(MINE);
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<AcquireResult> waiter = race.startAcquire(request(FIRST).waitingAs(1));

        assertThat(race.extend(MINE, SHORTER)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertThat(waiter.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(race.extend(MINE, SHORTER)).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_serialising_row_that_is_locked_does_not_hold_up_the_extensions_of_other_keys() throws Exception {
        race.backend.acquire(Requests.exclusive("a", MINE, TTL, "test"));
        race.backend.acquire(Requests.exclusive("b", THEIRS, TTL, "test"));
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:a' FOR UPDATE");

        List<ExtendResult> outcomes =
                race.backend.extendAll(List.of(Requests.extension(MINE, SHORTER), Requests.extension(THEIRS, SHORTER)));

        assertThat(outcomes.get(0)).isInstanceOf(ExtendResult.Busy.class);
        assertThat(outcomes.get(1)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void an_extension_that_shortens_where_nobody_waits_wakes_nobody() throws Exception {
        race.grant(MINE);

        assertThat(race.extend(MINE, SHORTER)).isInstanceOf(ExtendResult.Extended.class);

        assertThat(race.woken()).isEmpty();
    }

    @Test
    void a_sweep_deletes_lapsed_readers_and_queue_entries_and_wakes_who_stood_behind() throws Exception {
        race.grantShared(MINE);
        race.queue(request(FIRST), 1);
        race.moveClock(TTL.plusMillis(2001).minusSeconds(4));
        race.backend.acquire(Requests.exclusive("another", THEIRS, TTL, "test"));
        race.moveClock(Duration.ofSeconds(4));
        race.jdbc.update(
                "INSERT INTO syncguard_locks_waiters (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms,"
                        + " hand_over, waiter) VALUES ('" + SECOND
                        + "', 'k', 0, false, syncguard_locks_now() + 1000, 5000, false, 2)");

        assertThat(race.sweep(KEY, "another")).isEqualTo(1);

        assertThat(race.readers()).isEmpty();
        assertThat(race.waiters()).containsExactly(SECOND);
        assertThat(race.woken()).containsExactly(2L);
        assertThat(race.writers()).containsExactly(THEIRS);
    }

    @Test
    void a_sweep_wakes_nobody_where_the_key_is_held() throws Exception {
        race.grant(MINE);
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofSeconds(4));
        race.queue(request(SECOND), 2);
        race.moveClock(Duration.ofSeconds(1));

        assertThat(race.sweep(KEY)).isZero();

        assertThat(race.waiters()).containsExactly(SECOND);
        assertThat(race.woken()).isEmpty();
    }

    @Test
    void a_sweep_leaves_readers_that_lapsed_just_now_or_are_locked_and_queue_entries_that_are_live() throws Exception {
        race.grantShared(MINE);
        race.queue(request(FIRST), 1);
        race.moveClock(Duration.ofMillis(1));
        race.jdbc.update("UPDATE syncguard_locks_shared SET expires_at_ms = syncguard_locks_now() - 2000");
        assertThat(race.sweep(KEY)).isZero();
        race.jdbc.update("UPDATE syncguard_locks_shared SET expires_at_ms = syncguard_locks_now() - 2001");
        race.pinReaders();
        assertThat(race.sweep(KEY)).isZero();

        race.commitOther();
        assertThat(race.sweep(KEY)).isEqualTo(1);

        assertThat(race.waiters()).containsExactly(FIRST);
    }

    @Test
    void a_sweep_leaves_readers_and_queue_entries_of_a_key_whose_serialising_row_is_in_use() throws Exception {
        race.grantShared(MINE);
        race.queue(request(FIRST), 1);
        race.moveClock(TTL.plusDays(1));
        race.inOther("SELECT FROM syncguard_fence_counters FOR NO KEY UPDATE");

        assertThat(race.sweep(KEY)).isZero();

        assertThat(race.readers()).containsExactly(MINE);
        assertThat(race.waiters()).containsExactly(FIRST);
    }

    @Test
    void a_reader_that_is_extended_while_a_sweep_is_about_to_lock_it_stays() throws Exception {
        race.grantShared(MINE);
        race.moveClock(TTL.plusMillis(1));
        race.stopBefore("DELETE", "syncguard_locks_shared");
        Future<Integer> sweep = race.startBlocked(() -> race.sweep(KEY));

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        race.moveClock(Duration.ofMillis(2000));
        race.greenLight();

        assertThat(sweep.get()).isZero();
        assertThat(race.readers()).containsExactly(MINE);
    }

    @Test
    void the_first_waiter_is_woken_although_a_lapsed_lease_that_is_pinned_has_its_place() throws Exception {
        race.grantShared(THEIRS);
        race.grantShared(MINE);
        race.queue(RaceDatabase.request("waiter"), 1);
        race.inOther("SELECT FROM syncguard_locks_shared WHERE lock_id = '" + THEIRS + "' FOR KEY SHARE");
        race.jdbc.update("UPDATE syncguard_locks_shared SET expires_at_ms = 0 WHERE lock_id = ?", THEIRS);

        race.backend.release(MINE);

        assertThat(race.woken()).containsExactly(1L);
    }
}
