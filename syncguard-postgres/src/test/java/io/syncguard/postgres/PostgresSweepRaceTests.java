package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.KEY;
import static io.syncguard.postgres.PostgresRace.MINE;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A sweep waits for no other session, deletes no live lease, and hides no free key from callers who want it. */
class PostgresSweepRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    /** There is a lease that lapsed just long enough ago. */
    @BeforeEach
    void prepare() {
        race.grant(MINE);
        race.moveClock(TTL.plusMillis(2001));
    }

    @Test
    void a_lease_is_swept_when_it_lapsed_more_than_two_seconds_ago_and_its_counter_stays() {
        race.moveClock(Duration.ofMillis(-1));
        assertThat(race.sweep(KEY)).isZero();
        race.moveClock(Duration.ofMillis(1));
        assertThat(race.sweep(KEY)).isEqualTo(1);

        assertThat(race.leases()).isEmpty();
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
    }

    @Test
    void an_acquire_in_the_middle_of_a_sweep_waits_and_is_granted() throws Exception {
        race.stopAfter("DELETE", "syncguard_locks");
        Future<Integer> sweep = startSweep();
        Future<AcquireResult> attempt = race.startAcquire(request(THEIRS));

        race.greenLight();

        assertThat(sweep.get()).isEqualTo(1);
        assertThat(attempt.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence()).isEqualTo(new Fence(2)));
    }

    @Test
    void a_key_that_is_granted_again_before_the_sweep_has_it_is_left_alone() throws Exception {
        race.stopBeforeCall("syncguard_locks_lock_keys");
        Future<Integer> sweep = startSweep();

        race.grant(THEIRS);
        race.greenLight();

        assertThat(sweep.get()).isZero();
        assertThat(race.backend.lookupById(THEIRS)).isPresent();
    }

    @Test
    void a_sweep_in_the_middle_of_a_takeover_does_not_wait() throws Exception {
        race.stopBefore("DELETE", "syncguard_locks");
        Future<AcquireResult> takeover = race.startAcquire(request(THEIRS));

        assertThat(race.sweep(KEY)).isZero();
        race.greenLight();

        assertThat(takeover.get()).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void a_lease_that_is_extended_before_the_sweep_deletes_it_stays() throws Exception {
        race.stopAfterCall("syncguard_locks_lock_keys");
        Future<Integer> sweep = startSweep();

        race.moveClock(Duration.ofSeconds(-2));
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        race.moveClock(Duration.ofSeconds(2));
        race.greenLight();

        assertThat(sweep.get()).isZero();
        assertThat(race.backend.lookupById(MINE)).isPresent();
    }

    @Test
    void a_lease_that_is_extended_while_the_sweep_is_about_to_lock_it_stays() throws Exception {
        // Inside the statement that deletes: its snapshot is older than the extension.
        race.stopBefore("DELETE", "syncguard_locks");
        race.moveClock(Duration.ofSeconds(-2));
        Future<Integer> sweep = startSweep();

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        race.moveClock(Duration.ofSeconds(2));
        race.greenLight();

        assertThat(sweep.get()).isZero();
        assertThat(race.backend.lookupById(MINE)).isPresent();
    }

    @Test
    void an_extension_in_the_middle_of_a_sweep_revives_nothing() throws Exception {
        race.stopAfter("DELETE", "syncguard_locks");
        Future<Integer> sweep = startSweep();

        race.moveClock(Duration.ofHours(-1));
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Busy.class);
        race.greenLight();

        assertThat(sweep.get()).isEqualTo(1);
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.NotFound.class);
    }

    @Test
    void a_release_in_the_middle_of_a_sweep_waits_and_finds_nothing() throws Exception {
        race.stopAfter("DELETE", "syncguard_locks");
        Future<Integer> sweep = startSweep();
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.greenLight();

        assertThat(sweep.get()).isEqualTo(1);
        assertThat(release.get()).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    @Test
    void a_sweep_in_the_middle_of_a_release_does_not_wait() throws Exception {
        race.stopBefore("DELETE", "syncguard_locks");
        Future<ReleaseResult> release = race.startRelease(MINE);

        assertThat(race.sweep(KEY)).isZero();
        race.greenLight();

        assertThat(release.get()).isEqualTo(ReleaseResult.EXPIRED);
    }

    @Test
    void of_two_sweeps_at_once_one_deletes_and_the_other_does_not_wait() throws Exception {
        race.stopAfter("DELETE", "syncguard_locks");
        Future<Integer> sweep = startSweep();

        assertThat(race.sweep(KEY)).isZero();
        race.greenLight();

        assertThat(sweep.get()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"FOR KEY SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"})
    void a_row_that_is_locked_is_left_and_the_others_are_swept(String strength) throws Exception {
        grantAndLapse("another");
        race.inOther("SELECT FROM syncguard_locks WHERE key = 'k' " + strength);

        assertThat(race.sweep("another", KEY)).isEqualTo(1);

        assertThat(race.leases()).extracting(lease -> lease.get("key")).containsExactly(KEY);
        race.commitOther();
        assertThat(race.sweep("another", KEY)).isEqualTo(1);
    }

    @Test
    void a_key_whose_serialising_row_is_in_use_is_left_and_the_others_are_swept() throws Exception {
        grantAndLapse("another");
        race.inOther("SELECT FROM syncguard_fence_counters WHERE fence_key = 'fence:k' FOR NO KEY UPDATE");

        assertThat(race.sweep("another", KEY)).isEqualTo(1);

        assertThat(race.leases()).extracting(lease -> lease.get("key")).containsExactly(KEY);
    }

    @Test
    void counters_are_not_written() {
        List<Map<String, Object>> before = counters();

        assertThat(race.sweep(KEY)).isEqualTo(1);

        assertThat(counters()).isEqualTo(before);
    }

    private List<Map<String, Object>> counters() {
        return race.jdbc.queryForList("SELECT ctid::text, xmin::text, fence FROM syncguard_fence_counters");
    }

    private void grantAndLapse(String key) {
        race.backend.acquire(Requests.exclusive(key, THEIRS, TTL, "test"));
        race.moveClock(TTL.plusMillis(2001));
    }

    private Future<Integer> startSweep() {
        return race.startBlocked(() -> race.sweep(KEY));
    }
}
