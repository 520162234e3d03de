package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.start;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A waiter is handed the key while it leaves, asks again or renews its queue entry: there is one holder, and that one
 * knows it.
 */
class PostgresDirectHandOverRaceTests {

    private static final String WAITER = "waiter----------------";
    private static final String NEXT = "next------------------";

    private static PostgresRace race;

    @BeforeAll
    static void open() throws Exception {
        race = new PostgresRace();
    }

    @AfterAll
    static void close() throws Exception {
        race.close();
    }

    /** The key is held, and one waiter accepts a hand-over. */
    @BeforeEach
    void queueOne() throws Exception {
        race.reset();
        race.stopClock();
        race.grant(MINE);
        queueForHandOver(race, WAITER, 1);
    }

    @Test
    void who_leaves_in_the_middle_gives_the_key_back() throws Exception {
        Future<ReleaseResult> release = startHandOver();
        Future<ReleaseResult> leaving = start(() -> race.backend.release(WAITER));
        race.awaitBlocked(2);

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(leaving.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.backend.isLocked("k")).isFalse();
        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void who_is_handed_the_key_while_its_queue_entry_is_looked_for_gives_it_back() throws Exception {
        race.stopBeforeCall("syncguard_locks_key_of");
        Future<ReleaseResult> leaving = start(() -> race.backend.release(WAITER));
        race.awaitBlocked(1);

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(holders()).containsExactly(WAITER);

        race.greenLight();
        assertThat(leaving.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.backend.isLocked("k")).isFalse();
    }

    @Test
    void the_grant_is_committed_before_the_waiter_is_notified() throws Exception {
        // Sessions that have not notified yet find the function that stops.
        try (PostgresRace own = new PostgresRace()) {
            own.grant(MINE);
            queueForHandOver(own, WAITER, 1);
            own.stopBeforeCall("pg_catalog.pg_notify");
            Future<ReleaseResult> release = own.startRelease(MINE);

            assertThat(own.writers()).containsExactly(WAITER);
            assertThat(own.backend.acquire(request(WAITER).waitingAs(2).fromQueue()))
                    .isInstanceOf(AcquireResult.Granted.class);

            own.greenLight();
            assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
            assertThat(own.woken()).containsExactly(1L);
        }
    }

    @Test
    void who_leaves_first_is_handed_nothing() throws Exception {
        queueForHandOver(race, NEXT, 2);
        race.stopAfter("DELETE", "syncguard_locks_waiters");
        Future<ReleaseResult> leaving = start(() -> race.backend.release(WAITER));
        race.awaitBlocked(1);
        Future<ReleaseResult> release = start(() -> race.backend.release(MINE));
        race.awaitBlocked(2);

        race.greenLight();

        assertThat(leaving.get()).isEqualTo(ReleaseResult.LEFT);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(holders()).containsExactly(NEXT);
    }

    @Test
    void who_requests_in_the_middle_is_answered_the_grant() throws Exception {
        Future<ReleaseResult> release = startHandOver();
        Future<AcquireResult> again =
                start(() -> race.backend.acquire(request(WAITER).waitingAs(1).fromQueue()));
        race.awaitBlocked(2);

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(again.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence().value()).isEqualTo(2));
        assertThat(holders()).containsExactly(WAITER);
        assertThat(race.waiters()).isEmpty();
    }

    @Test
    void who_tries_for_the_last_time_in_the_middle_is_answered_the_grant() throws Exception {
        Future<ReleaseResult> release = startHandOver();
        Future<AcquireResult> last =
                start(() -> race.backend.acquire(request(WAITER).fromQueue()));
        race.awaitBlocked(2);

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(last.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(holders()).containsExactly(WAITER);
    }

    @Test
    void another_caller_who_comes_in_the_middle_is_refused() throws Exception {
        Future<ReleaseResult> release = startHandOver();
        Future<AcquireResult> otherCaller =
                start(() -> race.backend.acquire(request(NEXT).waitingAs(2)));
        race.awaitBlocked(2);

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(otherCaller.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(holders()).containsExactly(WAITER);
    }

    @Test
    void a_queue_entry_of_which_a_release_is_making_a_lease_is_not_confirmed() throws Exception {
        queueForHandOver(race, NEXT, 2);
        Future<ReleaseResult> release = startHandOver();

        List<Duration> nextLooks = race.renewWaiters(WAITER, NEXT);

        assertThat(nextLooks.get(0)).isZero();
        assertThat(nextLooks.get(1)).isPositive();

        race.greenLight();
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_grant_is_younger_than_the_last_confirmation_of_the_queue_entry() throws Exception {
        race.stopAfter("UPDATE", "syncguard_locks_waiters");
        Future<List<Duration>> renewal = start(() -> race.renewWaiters(WAITER));
        race.awaitBlocked(1);
        Future<ReleaseResult> release = start(() -> race.backend.release(MINE));
        race.awaitBlocked(2);
        Instant keptAt = Instant.ofEpochMilli(race.now());
        race.moveClock(Duration.ofSeconds(2));

        race.greenLight();

        assertThat(renewal.get()).hasSize(1);
        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.backend.lookup("k").get(0).acquiredAt()).isEqualTo(keptAt.plusSeconds(2));
    }

    @Test
    void a_queue_entry_that_is_being_renewed_becomes_a_lease_all_the_same() throws Exception {
        race.stopAfter("UPDATE", "syncguard_locks_waiters");
        Future<List<Duration>> renewal = start(() -> race.renewWaiters(WAITER));
        race.awaitBlocked(1);
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(renewal.get()).hasSize(1);
        assertThat(holders()).containsExactly(WAITER);
        assertThat(race.waiters()).isEmpty();
    }

    /**
     * Queues a waiter that accepts a hand-over. Without this, a release would only wake it, because the backend of the
     * race receives no wake-ups.
     */
    private static void queueForHandOver(PostgresRace race, String lockId, long waiter) {
        race.queue(request(lockId), waiter);
        race.jdbc.update("UPDATE syncguard_locks_waiters SET hand_over = true, channel = 'race'");
    }

    private static Future<ReleaseResult> startHandOver() throws Exception {
        race.stopAfter("INSERT", "syncguard_locks");
        Future<ReleaseResult> release = start(() -> race.backend.release(MINE));
        race.awaitBlocked(1);
        return release;
    }

    private static List<String> holders() {
        return race.backend.lookup("k").stream().map(RawLockInfo::lockId).toList();
    }
}
