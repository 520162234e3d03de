package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.FIRST;
import static io.syncguard.postgres.PostgresRace.KEY;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.SECOND;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.ExtendResult;
import java.sql.Array;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A release has the same effect whether it expects a waiter or none, and a fence that it does not need is not drawn.
 */
class PostgresAwaitedReleaseTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    private enum Guess {
        NOBODY_WAITS,
        SOMEBODY_WAITS
    }

    @ParameterizedTest
    @EnumSource
    void the_first_waiter_has_the_lease_of_the_releaser_and_the_next_fence(Guess guess) throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        queueForHandOver(SECOND, 2);
        race.moveClock(Duration.ofSeconds(1));

        assertThat(release(guess)).containsEntry("outcome", "released").containsEntry("handed_over", grantTo(1, 2));

        assertThat(race.jdbc.queryForMap("SELECT * FROM syncguard_locks"))
                .containsEntry("key", KEY)
                .containsEntry("lock_id", FIRST)
                .containsEntry("user_key", KEY)
                .containsEntry("fence", "000000000000002")
                .containsEntry("acquired_at_ms", race.now())
                .containsEntry("expires_at_ms", race.now() + 5000)
                .containsEntry("owner", "test");
        assertThat(race.waiters()).containsExactly(SECOND);
        assertThat(race.counter()).isEqualTo(2);
        assertThat(release(guess)).as("a repeated call").containsEntry("outcome", "not_found");
        assertThat(race.writers()).containsExactly(FIRST);
        assertThat(race.counter()).isEqualTo(2);
    }

    private enum Front {
        NOBODY,
        LAPSED,
        WOKEN,
        READER
    }

    @ParameterizedTest
    @EnumSource
    void without_a_hand_over_the_next_grant_has_the_next_fence(Front front) throws Exception {
        race.grant(MINE);
        switch (front) {
            case NOBODY -> {}
            case LAPSED -> {
                queueForHandOver(FIRST, 1);
                race.jdbc.update("UPDATE syncguard_locks_waiters SET expires_at_ms = ?", race.now());
            }
            case WOKEN -> race.queue(request(FIRST), 1);
            case READER -> race.queue(reader(FIRST), 1);
        }

        assertThat(release(Guess.SOMEBODY_WAITS))
                .containsEntry("outcome", "released")
                .containsEntry("handed_over", null);

        assertThat(race.leases()).isEmpty();
        assertThat(race.counter()).isEqualTo(1);
        race.jdbc.update("DELETE FROM syncguard_locks_waiters");
        assertThat(race.grant(SECOND).fence()).isEqualTo(new Fence(2));
    }

    @ParameterizedTest
    @EnumSource
    void a_lease_whose_counter_was_deleted_is_released(Guess guess) throws Exception {
        race.grant(MINE);
        race.jdbc.update("DELETE FROM syncguard_fence_counters");

        assertThat(release(guess)).containsEntry("outcome", "released");

        assertThat(race.leases()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_pinned_lease_is_not_handed_over(Guess guess) throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        race.pinWriter();

        assertThat(release(guess)).containsEntry("outcome", "busy").containsEntry("handed_over", null);

        assertThat(race.writers()).containsExactly(MINE);
        assertThat(race.waiters()).containsExactly(FIRST);
        assertThat(race.counter()).isEqualTo(1);
        race.commitOther();
        assertThat(release(guess)).containsEntry("handed_over", grantTo(1, 2));
    }

    @ParameterizedTest
    @EnumSource
    void a_lapsed_lease_is_not_handed_over(Guess guess) throws Exception {
        race.grant(MINE);
        race.moveClock(PAST_THE_TTL);
        queueForHandOverBehindALapsedLease();

        assertThat(release(guess)).containsEntry("outcome", "expired").containsEntry("handed_over", null);

        assertThat(race.writers()).containsExactly(MINE);
        assertThat(race.waiters()).containsExactly(FIRST);
        assertThat(race.counter()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void the_lease_of_the_next_holder_stays(Guess guess) throws Exception {
        race.grant(SECOND);
        queueForHandOver(FIRST, 1);

        assertThat(release(guess)).containsEntry("outcome", "not_found").containsEntry("handed_over", null);

        assertThat(race.writers()).containsExactly(SECOND);
        assertThat(race.waiters()).containsExactly(FIRST);
        assertThat(race.counter()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void at_the_end_of_the_counter_the_lease_ends_and_the_waiter_is_woken(Guess guess) throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        race.setCounters(Fence.MAX_VALUE);

        assertThat(release(guess)).containsEntry("outcome", "released").containsEntry("handed_over", null);

        assertThat(race.leases()).isEmpty();
        assertThat(race.woken()).containsExactly(1L);
        assertThat(race.counter()).isEqualTo(Fence.MAX_VALUE);
    }

    @ParameterizedTest
    @EnumSource
    void a_key_without_a_counter_gets_none(Guess guess) throws Exception {
        assertThat(release(guess)).containsEntry("outcome", "not_found");

        assertThat(race.counters()).isEmpty();
    }

    /** The holder confirms its entry by the answer to the renewal: an older grant would end before it expects. */
    @ParameterizedTest
    @EnumSource
    void the_grant_is_younger_than_a_renewal_that_the_release_waits_for(Guess guess) throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        race.inOther("SELECT syncguard_locks_renew_waiters(ARRAY['" + FIRST + "'])");
        Future<Map<String, Object>> release = race.startBlocked(() -> release(guess));

        race.moveClock(Duration.ofSeconds(3));
        race.commitOther();

        assertThat(release.get()).containsEntry("handed_over", grantTo(1, 2));
    }

    @ParameterizedTest
    @EnumSource
    void who_lapses_while_the_release_waits_is_handed_nothing_and_the_next_one_is_granted(Guess guess)
            throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        queueForHandOver(SECOND, 2);
        race.jdbc.update(
                "UPDATE syncguard_locks_waiters SET expires_at_ms = expires_at_ms + 60000 WHERE lock_id = ?", SECOND);
        race.inOther("SELECT FROM syncguard_locks_waiters WHERE lock_id = '" + FIRST + "' FOR UPDATE");
        Future<Map<String, Object>> release = race.startBlocked(() -> release(guess));

        race.moveClock(Duration.ofSeconds(6));
        race.inOther("UPDATE syncguard_locks_waiters SET owner = 'changed' WHERE lock_id = '" + FIRST + "'");
        race.commitOther();

        assertThat(release.get()).containsEntry("outcome", "released");
        assertThat(race.writers()).containsExactly(SECOND);
        assertThat(race.waiters()).isEmpty();
        assertThat(race.counter()).isEqualTo(2);
    }

    /** It reaches neither the lease that ends nor the one that begins. */
    @Test
    void an_extension_in_the_middle_of_a_hand_over_is_busy() throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        race.stopAfter("DELETE", "syncguard_locks_waiters");
        Future<Map<String, Object>> release = race.startBlocked(() -> release(Guess.SOMEBODY_WAITS));

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertThat(release.get()).containsEntry("handed_over", grantTo(1, 2));
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.NotFound.class);
    }

    @ParameterizedTest
    @EnumSource
    void an_extension_under_way_keeps_the_lease_from_the_waiter(Guess guess) throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        race.stopExtensionBeforeItWrites("syncguard_locks");
        Future<?> extension = race.startExtend(MINE);

        assertThat(release(guess)).containsEntry("outcome", "busy").containsEntry("handed_over", null);
        race.greenLight();
        extension.get();

        assertThat(race.counter()).isEqualTo(1);
        assertThat(release(guess)).containsEntry("handed_over", grantTo(1, 2));
    }

    @Test
    void an_extension_that_ends_just_before_does_not_keep_it() throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        race.stopBefore("DELETE", "syncguard_locks_waiters");
        Future<Map<String, Object>> release = race.startBlocked(() -> release(Guess.SOMEBODY_WAITS));

        race.extend(MINE, TTL.plusMinutes(1));
        race.greenLight();

        assertThat(release.get()).containsEntry("handed_over", grantTo(1, 2));
        assertThat(race.writers()).containsExactly(FIRST);
    }

    @ParameterizedTest
    @EnumSource
    void who_leaves_while_the_release_waits_for_the_row_is_passed_over(Guess guess) throws Exception {
        race.grant(MINE);
        queueForHandOver(FIRST, 1);
        queueForHandOver(SECOND, 2);
        race.lockSerialisingRow();
        Future<Map<String, Object>> release = race.startBlocked(() -> release(guess));

        race.inOther("DELETE FROM syncguard_locks_waiters WHERE lock_id = '" + FIRST + "'");
        race.commitOther();

        assertThat(release.get()).containsEntry("handed_over", grantTo(2, 2));
    }

    private static void queueForHandOver(String lockId, long waiter) {
        race.queue(request(lockId), waiter);
        race.jdbc.update("UPDATE syncguard_locks_waiters SET hand_over = true");
    }

    /** A request would take the key over. */
    private static void queueForHandOverBehindALapsedLease() {
        race.jdbc.update("""
                INSERT INTO syncguard_locks_waiters
                    (lock_id, key, arrived_at_ms, shared, expires_at_ms, ttl_ms, hand_over, channel, waiter)
                VALUES (?, 'k', 1, false, ?, 5000, true, 'race', 1)
                """, FIRST, race.now() + 5000);
    }

    private static List<Long> grantTo(long waiter, long fence) {
        return List.of(waiter, fence, race.now(), race.now() + 5000);
    }

    private static Map<String, Object> release(Guess guess) throws SQLException {
        @Nullable Long fence = guess == Guess.SOMEBODY_WAITS ? 0L : null;
        Map<String, Object> answer = race.jdbc.queryForMap(
                "CALL syncguard_locks_hand_over('k', ?, 'race', true, ?, NULL, NULL)", MINE, fence);
        if (answer.get("handed_over") instanceof Array handedOver) {
            answer.put("handed_over", List.of((Long[]) handedOver.getArray()));
        }
        return answer;
    }
}
