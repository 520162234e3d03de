package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.assertTimesOut;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An acquire that meets others at the rows of its key grants once, draws one fence, and leaves nothing behind when it
 * fails.
 */
class PostgresAcquireRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace(21);

    @BugOf("Spring Integration: an ERROR of a duplicate key in the server's log for each poll")
    @Test
    void of_fifty_clients_who_meet_at_a_new_key_one_is_granted_and_the_server_logs_no_error() throws Exception {
        try (PostgresRace own = new PostgresRace(51)) {
            own.inOther("INSERT INTO syncguard_fence_counters VALUES ('fence:k', 0, 'k')");
            List<Future<AcquireResult>> attempts = startAcquires(own, 50);
            own.awaitBlocked(50);

            // All fifty have read that the key is free, and wait for a row that does not exist.
            own.inOther("DELETE FROM syncguard_fence_counters");
            own.commitOther();

            assertThat(grantsOf(attempts)).containsExactly(new Fence(1));
            assertThat(own.counter()).isEqualTo(1);
            assertThat(own.leases()).hasSize(1);
            assertThat(own.closeAndCount("xact_rollback")).as("errors").isZero();
        }
    }

    @Test
    void of_twenty_clients_who_meet_at_a_lapsed_lease_one_takes_it_over() throws Exception {
        race.grant(THEIRS);
        race.moveClock(TTL.plusSeconds(1));
        race.lockSerialisingRow();
        List<Future<AcquireResult>> attempts = startAcquires(race, 20);
        race.awaitBlocked(20);

        race.commitOther();

        assertThat(grantsOf(attempts)).containsExactly(new Fence(2));
        assertThat(race.counter()).isEqualTo(2);
        assertThat(race.leases()).hasSize(1);
    }

    @BugOf("ShedLock: a grant that waited for a row lock is dead on arrival")
    @Test
    void a_grant_that_waited_for_its_row_has_its_whole_ttl() throws Exception {
        race.restoreClock();
        race.grant(THEIRS);
        race.backend.release(THEIRS);
        race.lockSerialisingRow();
        Future<AcquireResult> attempt = race.startAcquire(request(MINE));

        race.inOther("SELECT pg_sleep(0.05)");
        long won = race.now();
        race.commitOther();

        assertThat(attempt.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.expiresAt().toEpochMilli())
                                .isGreaterThanOrEqualTo(won + TTL.toMillis()));
    }

    @Test
    void an_acquire_that_waited_for_its_row_sees_what_was_granted_meanwhile_and_draws_no_fence() throws Exception {
        race.grant(THEIRS);
        race.backend.release(THEIRS);
        race.lockSerialisingRow();
        Future<AcquireResult> attempt = race.startAcquire(request(MINE));

        race.inOther("SELECT syncguard_locks_acquire('k', false, 1, '" + THEIRS
                + "', 30000, 'other', false, NULL, NULL, NULL, NULL, NULL)");
        race.commitOther();

        assertThat(attempt.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Refused.class,
                        refusal -> assertThat(refusal.timeLeft())
                                .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(31)));
        assertThat(race.counter()).as("of the other grant").isEqualTo(2);
    }

    @Test
    void an_acquire_that_is_about_to_delete_a_lapsed_lease_leaves_it_when_it_is_extended_meanwhile() throws Exception {
        race.grant(THEIRS);
        race.moveClock(TTL.plusSeconds(1));
        // Inside the statement that deletes: its snapshot is older than the extension.
        race.stopBefore("DELETE", "syncguard_locks");
        Future<AcquireResult> attempt = race.startAcquire(request(MINE));

        race.moveClock(Duration.ofMillis(-1));
        assertThat(race.extend(THEIRS)).isInstanceOf(ExtendResult.Extended.class);
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
        assertThat(race.counter()).isEqualTo(1);
    }

    @Test
    void a_lapsed_lease_that_somebody_pins_is_refused_for_a_moment() throws Exception {
        race.grant(THEIRS);
        race.moveClock(TTL.plusSeconds(1));
        race.pinWriter();

        race.assertRefusedForAMoment(request(MINE));
        assertThat(race.counter()).isEqualTo(1);

        race.commitOther();
        assertThat(race.grant(MINE).fence()).isEqualTo(new Fence(2));
    }

    /** A guarded commit pins the row of its lock. A takeover of the lock must wait for the pin. */
    @Test
    void a_pin_stands_in_the_way_of_another_lock_id_and_not_of_a_longer_lease() throws Exception {
        race.grant(THEIRS);
        race.pinWriter();

        race.jdbc.update("UPDATE syncguard_locks SET expires_at_ms = expires_at_ms + 1");
        Future<Integer> takeover =
                race.startBlocked(() -> race.jdbc.update("UPDATE syncguard_locks SET lock_id = ?", MINE));

        race.commitOther();
        assertThat(takeover.get()).isEqualTo(1);
    }

    @BugOf("alturkovic: each acquire deletes all lapsed rows")
    @Test
    void lapsed_leases_of_other_keys_are_not_touched() throws Exception {
        race.grant(THEIRS);
        race.backend.acquire(Requests.exclusive("another", "another", TTL, "test"));
        race.moveClock(Duration.ofDays(1));

        race.grant(MINE);

        assertThat(race.writers()).containsExactly("another", MINE);
    }

    @Test
    void a_serialising_row_that_stays_locked_is_an_error_and_nothing_is_left_behind() throws Exception {
        try (PostgresRace impatient = PostgresRace.impatient()) {
            impatient.grant(THEIRS);
            impatient.backend.release(THEIRS);
            impatient.lockSerialisingRow();

            assertTimesOut(() -> impatient.backend.acquire(request(MINE)));

            assertThat(impatient.leases()).isEmpty();
            assertThat(impatient.counter()).isEqualTo(1);
            impatient.commitOther();
            assertThat(impatient.grant(MINE).fence()).isEqualTo(new Fence(2));
        }
    }

    @Test
    void the_last_fence_is_granted_and_after_it_nothing_is_acquired_or_advanced() {
        race.grant(THEIRS);
        race.backend.release(THEIRS);
        race.setCounters(899_999_999_999_999L);

        assertThat(race.grant(THEIRS).fence()).hasToString("900000000000000");
        race.backend.release(THEIRS);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> race.backend.acquire(request(MINE)))
                .withMessageContaining("no fences left")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));
        assertThat(race.leases()).isEmpty();
        assertThat(race.counter()).isEqualTo(900_000_000_000_000L);
    }

    @Test
    void a_key_without_fences_keeps_the_lapsed_lease_that_it_has() throws Exception {
        race.grant(THEIRS);
        race.moveClock(TTL.plusSeconds(1));
        race.setCounters(900_000_000_000_000L);

        assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> race.backend.acquire(request(MINE)));

        assertThat(race.writers()).containsExactly(THEIRS);
    }

    @Test
    void of_twenty_clients_who_meet_at_the_last_fence_one_is_granted() throws Exception {
        race.grant(THEIRS);
        race.backend.release(THEIRS);
        race.setCounters(899_999_999_999_999L);
        race.lockSerialisingRow();
        List<Future<AcquireResult>> attempts = startAcquires(race, 20);
        race.awaitBlocked(20);

        race.commitOther();

        int granted = 0;
        for (Future<AcquireResult> attempt : attempts) {
            granted += isGranted(attempt) ? 1 : 0;
        }
        assertThat(granted).isEqualTo(1);
        assertThat(race.counter()).isEqualTo(900_000_000_000_000L);
        assertThat(race.leases()).hasSize(1);
    }

    private static List<Future<AcquireResult>> startAcquires(PostgresRace race, int clients) {
        List<Future<AcquireResult>> attempts = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            AcquireRequest request = request("client " + i);
            attempts.add(start(() -> race.backend.acquire(request)));
        }
        return attempts;
    }

    private static List<Fence> grantsOf(List<Future<AcquireResult>> attempts) throws Exception {
        List<Fence> fences = new ArrayList<>();
        for (Future<AcquireResult> attempt : attempts) {
            if (attempt.get() instanceof AcquireResult.Granted grant) {
                fences.add(grant.fence());
            }
        }
        return fences;
    }

    /** Whether it is granted; otherwise it has to be refused, or has to fail for lack of fences. */
    private static boolean isGranted(Future<AcquireResult> attempt) throws Exception {
        try {
            return attempt.get() instanceof AcquireResult.Granted;
        } catch (ExecutionException ex) {
            assertThat(ex)
                    .cause()
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            cause -> assertThat(cause.code()).isEqualTo(LockErrorCode.INTERNAL));
            return false;
        }
    }
}
