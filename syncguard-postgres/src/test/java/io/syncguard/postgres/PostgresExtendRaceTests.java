package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An extension that stalls at any of its steps revives nothing beside a new grant, and waits for no other session. */
class PostgresExtendRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @BeforeEach
    void holdALock() {
        race.grant(MINE);
    }

    @Test
    void an_extension_that_stalls_before_it_looks_revives_nothing_beside_the_next_grant() throws Exception {
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.moveClock(PAST_THE_TTL);
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
        List<Map<String, Object>> leases = race.leases();
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(race.leases()).isEqualTo(leases);
    }

    @Test
    void an_extension_that_stalls_before_it_looks_revives_nothing_that_lapsed_meanwhile() throws Exception {
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);
        List<Map<String, Object>> leases = race.leases();

        race.moveClock(PAST_THE_TTL);
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Expired.class);
        assertThat(race.leases()).isEqualTo(leases);
    }

    @Test
    void an_extension_that_stalls_with_its_row_locked_keeps_others_out_and_then_revives_nothing() throws Exception {
        race.stopExtensionBeforeItJudges("syncguard_locks");
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.moveClock(PAST_THE_TTL);
        assertThat(race.backend.acquire(request(THEIRS))).isInstanceOf(AcquireResult.Refused.class);
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Expired.class);
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
    }

    @Test
    void an_extension_that_stalls_after_it_looked_keeps_others_out_and_holds_on() throws Exception {
        race.moveClock(PAST_THE_TTL.dividedBy(2));
        race.stopExtensionBeforeItWrites("syncguard_locks");
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.moveClock(PAST_THE_TTL.dividedBy(2));
        race.assertRefusedForAMoment(request(THEIRS));
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.backend.acquire(request(THEIRS))).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.writers()).containsExactly(MINE);
        assertThat(race.counter()).isEqualTo(1);
    }

    @Test
    void an_extension_in_the_middle_of_a_takeover_does_not_wait_and_revives_nothing() throws Exception {
        race.moveClock(PAST_THE_TTL);
        race.stopBeforeRow("INSERT", "syncguard_locks");
        Future<AcquireResult> takeover = race.startAcquire(request(THEIRS));

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Expired.class);
        // This holds even if the clock makes the lease live again.
        race.moveClock(Duration.ofHours(-1));
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertThat(takeover.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence()).isEqualTo(new Fence(2)));
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.NotFound.class);
    }

    @Test
    void a_stalled_extension_that_finds_its_lease_released_brings_nothing_back() throws Exception {
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        race.greenLight();

        assertThat(extension.get()).isNotInstanceOf(ExtendResult.Extended.class);
        assertThat(race.leases()).isEmpty();
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.NotFound.class);
    }

    @Test
    void a_stalled_extension_that_meets_another_of_the_same_lock_reports_the_end_that_is_stored() throws Exception {
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.jdbc.update("UPDATE syncguard_locks SET expires_at_ms = expires_at_ms - 60000");
        race.greenLight();

        assertThat(extension.get())
                .isInstanceOfSatisfying(
                        ExtendResult.Extended.class,
                        extended -> assertThat(race.leases())
                                .extracting(lease -> lease.get("expires_at_ms"))
                                .containsExactly(extended.expiresAt().toEpochMilli()));
    }

    /** A waiter has seen the later end, or is about to see it; the repeated extension wakes it. */
    @Test
    void a_stalled_extension_that_finds_its_lease_longer_than_it_was_is_busy() throws Exception {
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.jdbc.update("UPDATE syncguard_locks SET expires_at_ms = expires_at_ms + 60000");
        List<Map<String, Object>> leases = race.leases();
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Busy.class);
        assertThat(race.leases()).isEqualTo(leases);
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void an_extension_passes_a_guarded_commit() throws Exception {
        race.pinWriter();

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void an_extension_does_not_wait_for_the_serialising_row() throws Exception {
        race.lockSerialisingRow();

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.extend(MINE, TTL.minusMillis(1)))
                .as("an extension that shortens")
                .isInstanceOf(ExtendResult.Busy.class);
    }

    @Test
    void a_row_that_is_locked_does_not_hold_up_the_others_and_is_not_lost() throws Exception {
        race.backend.acquire(Requests.exclusive("another", THEIRS, TTL, "test"));
        race.inOther("SELECT FROM syncguard_locks WHERE key = 'k' FOR UPDATE");

        List<ExtendResult> outcomes =
                race.backend.extendAll(List.of(Requests.extension(MINE, TTL), Requests.extension(THEIRS, TTL)));

        assertThat(outcomes.get(0)).isInstanceOf(ExtendResult.Busy.class);
        assertThat(outcomes.get(1)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void a_locked_row_whose_lease_has_lapsed_is_no_reason_to_ask_again() throws Exception {
        race.moveClock(PAST_THE_TTL);
        race.inOther("SELECT FROM syncguard_locks FOR UPDATE");

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Expired.class);
    }
}
