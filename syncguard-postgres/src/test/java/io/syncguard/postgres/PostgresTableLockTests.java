package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.KEY;
import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.assertTimesOut;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A session that locks a whole table delays operations no longer than the lock timeout, and no lease is lost by that.
 */
class PostgresTableLockTests {

    @RegisterExtension
    private static final PostgresRace race = PostgresRace.impatient();

    @BeforeEach
    void holdALock() {
        race.grant(MINE);
    }

    @Test
    void a_table_of_leases_that_stays_locked_is_an_error_in_time_and_the_lease_survives() throws Exception {
        race.inOther("LOCK TABLE syncguard_locks IN ACCESS EXCLUSIVE MODE");

        assertTimesOut(() -> race.backend.acquire(request(THEIRS)));
        assertTimesOut(() -> race.extend(MINE));
        assertTimesOut(() -> race.backend.release(MINE));
        assertTimesOut(() -> race.backend.isLocked(KEY));

        race.commitOther();
        assertThat(race.backend.acquire(request(THEIRS))).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(race.grant(THEIRS).fence()).isEqualTo(new Fence(2));
    }

    @Test
    void a_table_of_counters_that_stays_locked_ends_no_heartbeat() throws Exception {
        race.inOther("LOCK TABLE syncguard_fence_counters IN ACCESS EXCLUSIVE MODE");

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
        assertTimesOut(() -> race.backend.acquire(request(THEIRS)));
        assertTimesOut(() -> race.backend.release(MINE));

        race.commitOther();
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void tables_that_are_rewritten_lose_no_lease_and_no_fence() throws Exception {
        try (PostgresRace patient = new PostgresRace()) {
            AtomicBoolean over = new AtomicBoolean();
            patient.grant(MINE);
            Future<Long> client = PostgresRace.start(() -> {
                long fence = 1;
                do {
                    assertThat(patient.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
                    assertThat(patient.grant(MINE).fence()).isEqualTo(new Fence(++fence));
                    assertThat(patient.extend(MINE)).isInstanceOf(ExtendResult.Extended.class);
                } while (!over.get());
                return fence;
            });
            for (int i = 0; i < 5; i++) {
                patient.outside().execute("VACUUM FULL syncguard_locks");
                patient.outside().execute("VACUUM FULL syncguard_fence_counters");
            }
            over.set(true);

            assertThat(client.get()).isEqualTo(patient.counter());
            assertThat(patient.backend.lookupById(MINE)).isPresent();
        }
    }
}
