package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.KEY;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.timeLeft;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.RawLockInfo;
import io.syncguard.core.LockEngine;
import io.syncguard.core.ManualTime;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The server's clock jumps: fences grow all the same, and no holder relies on a lock that the server may have granted
 * to another.
 */
class PostgresServerClockTests {

    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @Test
    void a_lease_is_live_for_a_second_after_its_end_for_every_operation_and_no_longer() {
        race.grant(MINE);

        race.assertLiveForASecondAfterItsEnd(MINE);
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));

        race.moveClock(TTL.plusMillis(999));
        assertThat(race.backend.release(THEIRS)).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_step_back_keeps_the_key_taken_longer() {
        race.grant(THEIRS);

        race.moveClock(HOUR.negated());
        race.moveClock(TTL.plusSeconds(1));

        assertThat(timeLeft(race.backend.acquire(request(MINE)))).isEqualTo(HOUR);
        assertThat(race.backend.isLocked(KEY)).isTrue();
        assertThat(race.sweep(KEY)).isZero();
    }

    @Test
    void a_step_back_leaves_extension_and_release_to_the_holder() {
        AcquireResult.Granted grant = race.grant(MINE);

        race.moveClock(HOUR.negated());

        assertThat(race.extend(MINE))
                .isEqualTo(new ExtendResult.Extended(grant.expiresAt().minus(HOUR)));
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
    }

    @Test
    void fences_grow_however_the_clock_jumps() {
        long fence = 0;
        for (int hours : new int[] {5, -3, -10, 24, -24, 1, -1}) {
            race.moveClock(HOUR.multipliedBy(hours));

            assertThat(race.grant(MINE).fence().value()).isEqualTo(++fence);
            assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    @Test
    void a_step_forward_ends_leases_early_and_the_old_holder_learns_it_from_the_next_extension() {
        race.grant(MINE);

        race.moveClock(HOUR);

        assertThat(race.backend.isLocked(KEY)).isFalse();
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    @Test
    void a_grant_that_waited_through_a_step_forward_has_its_whole_ttl() throws Exception {
        race.grant(THEIRS);
        race.inOther("SELECT syncguard_locks_release('" + THEIRS + "')");
        race.moveClock(TTL.plusSeconds(1));
        Future<AcquireResult> attempt = race.startAcquire(request(MINE));

        race.moveClock(HOUR);
        race.commitOther();

        AcquireResult.Granted grant = (AcquireResult.Granted) attempt.get();
        assertThat(grant.expiresAt().toEpochMilli()).isEqualTo(race.now() + TTL.toMillis());
    }

    @Test
    void an_acquire_that_waited_through_a_step_back_meets_a_lease_that_is_live_again() throws Exception {
        race.grant(THEIRS);
        race.moveClock(HOUR);
        race.lockSerialisingRow();
        Future<AcquireResult> attempt = race.startAcquire(request(MINE));

        race.moveClock(HOUR.negated());
        race.commitOther();

        assertThat(timeLeft(attempt.get())).isEqualTo(TTL.plusSeconds(1));
        assertThat(race.counter()).isEqualTo(1);
        assertThat(race.extend(THEIRS)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void a_step_forward_is_reported_to_the_old_holder_by_its_next_heartbeat() {
        ManualTime time = new ManualTime();
        Losses losses = new Losses();
        LockEngine engine = time.engineOn(race.newBackend(() -> {}), losses);
        LockHandle lock = engine.acquire(LockRequest.of(KEY).ttl(TTL));
        race.moveClock(HOUR);
        assertThat(race.grant(THEIRS).fence().value())
                .isGreaterThan(lock.fence().value());
        assertThat(lock.isHeld()).as("before its next heartbeat").isTrue();

        time.advance(TTL.dividedBy(3));

        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !losses.reasons.isEmpty());
        assertThat(losses.reasons).containsExactly(LockReason.NOT_FOUND);
        assertThat(lock.isHeld()).isFalse();
        engine.close();
    }

    /** The lease blocks everybody and has no holder. */
    @Test
    void a_lease_that_a_step_back_makes_live_again_is_not_its_old_holders() {
        ManualTime time = new ManualTime();
        Losses losses = new Losses();
        LockEngine engine = time.engineOn(race.newBackend(() -> {}), losses);
        LockHandle lock = engine.acquire(LockRequest.of(KEY).ttl(TTL).noHeartbeat());
        race.moveClock(HOUR);
        time.advance(TTL);
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !losses.reasons.isEmpty());

        race.moveClock(HOUR.negated().plusSeconds(1));

        List<RawLockInfo> live = race.backend.lookup(KEY);
        assertThat(live).as("live at the server").hasSize(1);
        assertThat(lock.isHeld()).isFalse();
        assertThat(lock.extend(TTL)).isFalse();
        assertThat(race.backend.lookup(KEY)).isEqualTo(live);
        assertThat(race.backend.acquire(request(THEIRS))).isInstanceOf(AcquireResult.Refused.class);
        assertThat(losses.reasons).containsExactly(LockReason.EXPIRED);
        engine.close();
    }

    private static final class Losses implements LockListener {

        private final List<LockReason> reasons = new CopyOnWriteArrayList<>();

        @Override
        public void lost(LockEvent event) {
            reasons.add(event.reason());
        }
    }
}
