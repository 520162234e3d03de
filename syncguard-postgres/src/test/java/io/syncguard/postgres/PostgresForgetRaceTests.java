package io.syncguard.postgres;

import static io.syncguard.postgres.RaceDatabase.FIRST;
import static io.syncguard.postgres.RaceDatabase.KEY;
import static io.syncguard.postgres.RaceDatabase.MINE;
import static io.syncguard.postgres.RaceDatabase.SECOND;
import static io.syncguard.postgres.RaceDatabase.THEIRS;
import static io.syncguard.postgres.RaceDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.ReleaseResult;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A counter is forgotten at each moment of a request for its key: the key has one holder, and its fences grow. */
class PostgresForgetRaceTests {

    private static final Duration IDLE = FenceSettings.RETENTION.plusMillis(1);

    @RegisterExtension
    static final PostgresRace race = PostgresRace.byTheClock();

    private final PostgresBatches batches = new PostgresBatches(race);

    private long last;

    /** The counter is idle. */
    @BeforeEach
    void lockLongAgo() {
        last = race.grant(FIRST).fence().value();
        race.backend.release(FIRST);
        race.moveClock(IDLE);
    }

    @Test
    void a_try_between_its_look_and_its_update() throws Exception {
        Future<AcquireResult> attempt = startTryThatStopsBefore("UPDATE");

        race.forget();
        assertThat(race.counters()).isEmpty();
        race.greenLight();

        assertHolds(MINE, attempt.get());
    }

    @Test
    void a_try_whose_key_was_forgotten_and_granted_between_its_look_and_its_update() throws Exception {
        Future<AcquireResult> attempt = startTryThatStopsBefore("UPDATE");

        race.forget();
        AcquireResult theirs = race.backend.acquire(request(THEIRS));
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertHolds(THEIRS, theirs);
    }

    /** The clock is set back to the very millisecond of the last fence: not even then are there two holders. */
    @Test
    void a_try_that_finds_the_same_fence_of_another_row_is_refused() throws Exception {
        Future<AcquireResult> attempt = startTryThatStopsBefore("UPDATE");

        race.forget();
        race.moveClock(IDLE.negated());
        race.grant(THEIRS);
        assertThat(race.counter()).isEqualTo(last);
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.writers()).containsExactly(THEIRS);
    }

    @Test
    void a_try_that_found_no_counter_and_whose_key_was_granted_meanwhile() throws Exception {
        race.forget();
        Future<AcquireResult> attempt = startTryThatStopsBefore("INSERT");

        AcquireResult theirs = race.backend.acquire(request(THEIRS));
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertHolds(THEIRS, theirs);
    }

    @Test
    void a_try_that_found_no_counter_and_whose_key_was_locked_and_forgotten_meanwhile() throws Exception {
        race.forget();
        Future<AcquireResult> attempt = startTryThatStopsBefore("INSERT");

        lockAndForget();
        race.greenLight();

        assertHolds(MINE, attempt.get());
    }

    @Test
    void a_try_that_has_drawn_its_fence_and_whose_key_was_locked_and_forgotten_before_its_insert() throws Exception {
        race.forget();
        race.stopBeforeRow("INSERT", "syncguard_fence_counters");
        Future<AcquireResult> attempt = race.startAcquire(request(MINE));

        lockAndForget();
        race.greenLight();

        assertHolds(MINE, attempt.get());
    }

    /** Otherwise the second one would report that there are no fences left. */
    @Test
    void two_last_attempts_that_both_find_the_counter_gone() throws Exception {
        race.forget();
        race.stopBefore(2, "INSERT", "syncguard_fence_counters");
        Future<AcquireResult> one = race.startAcquire(request(MINE).fromQueue());
        Future<AcquireResult> other = race.startAcquire(request(THEIRS).fromQueue());

        race.greenLight();

        assertThat(List.of(one.get(), other.get()))
                .hasOnlyElementsOfTypes(AcquireResult.Granted.class, AcquireResult.Refused.class)
                .hasAtLeastOneElementOfType(AcquireResult.Granted.class)
                .hasAtLeastOneElementOfType(AcquireResult.Refused.class);
        assertThat(race.writers()).hasSize(1);
        assertThat(race.counter()).isGreaterThan(last);
    }

    @Test
    void a_batch_between_its_look_and_its_locks() throws Exception {
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.stopBeforeCall("syncguard_locks_last_fence");
        Future<List<@Nullable AcquireResult>> batch =
                race.startBlocked(() -> batches.acquire(PostgresBatches.request(KEY, MINE)));

        race.forget();
        race.greenLight();

        assertThat(batch.get()).hasOnlyElementsOfType(AcquireResult.Granted.class);
        assertThat(race.counters()).hasSize(1);
        assertThat(race.writers()).hasSize(1);
    }

    @Test
    void a_batch_that_found_no_counter_and_whose_key_was_granted_meanwhile() throws Exception {
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.forget();
        race.stopBefore("INSERT", "syncguard_fence_counters");
        Future<List<@Nullable AcquireResult>> batch =
                race.startBlocked(() -> batches.acquire(PostgresBatches.request(KEY, MINE)));

        AcquireResult theirs = race.backend.acquire(request(THEIRS));
        race.greenLight();

        assertThat(batch.get()).hasOnlyElementsOfType(AcquireResult.Refused.class);
        assertHolds(THEIRS, theirs);
    }

    @Test
    void a_batch_whose_key_was_granted_and_forgotten_before_it_made_the_counter() throws Exception {
        race.functions.setPatient("acquire_batch", "acquire_free_batch");
        race.forget();
        race.stopBefore("INSERT", "syncguard_fence_counters");
        Future<List<@Nullable AcquireResult>> batch =
                race.startBlocked(() -> batches.acquire(PostgresBatches.request(KEY, MINE)));

        race.moveClock(IDLE);
        last = race.grant(THEIRS).fence().value();
        race.backend.release(THEIRS);
        race.moveClock(IDLE);
        race.forget();
        assertThat(race.counters()).isEmpty();
        race.greenLight();

        assertThat(batch.get()).hasOnlyElementsOfType(AcquireResult.Granted.class);
        assertThat(race.counter()).isGreaterThan(last);
    }

    @Test
    void a_waiter_of_a_forgotten_key_is_granted_it_with_a_larger_fence() {
        race.forget();

        assertHolds(MINE, race.backend.acquire(request(MINE).waitingAs(1)));
    }

    @Test
    void a_waiter_before_it_locks_the_row() throws Exception {
        race.stopBeforeCall("syncguard_locks_fence_key");
        Future<AcquireResult> attempt =
                race.startAcquire(request(MINE).waitingAs(1).fromQueue());

        race.forget();
        race.greenLight();

        assertHolds(MINE, attempt.get());
    }

    /** A request that waits for the row finds it gone. */
    @Test
    void requests_that_wait_for_the_row_while_it_is_deleted() throws Exception {
        race.inOther("SELECT syncguard_locks_forget('', 1)");
        Future<AcquireResult> attempt = race.startAcquire(request(MINE).fromQueue());
        Future<AcquireResult> waiter =
                race.startAcquire(request(THEIRS).waitingAs(1).fromQueue());

        race.commitOther();

        assertThat(List.of(attempt.get(), waiter.get()))
                .filteredOn(AcquireResult.Granted.class::isInstance)
                .singleElement()
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence().value()).isGreaterThan(last));
        assertThat(race.writers()).hasSize(1);
    }

    @Test
    void a_key_that_is_granted_before_its_counter_is_locked_keeps_it() throws Exception {
        race.stopAfterCall("syncguard_locks_idle_counters");
        Future<?> forgetting = race.startBlocked(this::forget);

        race.grant(MINE);
        race.greenLight();

        forgetting.get();
        assertThat(race.counter()).isEqualTo(race.now() * 100);
    }

    /** The fence of the grant is as old as the counter: only the lease shows that the key is in use. */
    @Test
    void a_key_that_is_granted_after_the_clock_was_set_back_keeps_its_counter() throws Exception {
        race.stopAfterCall("syncguard_locks_idle_counters");
        Future<?> forgetting = race.startBlocked(this::forget);

        race.moveClock(IDLE.multipliedBy(2).negated());
        race.grant(MINE);
        race.greenLight();

        forgetting.get();
        assertThat(race.counter()).isEqualTo(last + 1);
    }

    /** A grant of somebody else that is not committed: the row is locked and stays. */
    @Test
    void a_key_whose_grant_is_under_way_keeps_its_counter() throws Exception {
        race.inOther("SELECT syncguard_locks_acquire('k', false, 1, '" + THEIRS
                + "', 30000, 'test', false, NULL, NULL, NULL, NULL, NULL)");

        race.forget();
        race.commitOther();

        assertThat(race.counter()).isEqualTo(race.now() * 100);
        assertThat(race.writers()).containsExactly(THEIRS);
    }

    @Test
    void a_release_and_a_hand_over_of_a_lease_that_is_older_than_the_retention_find_its_counter() {
        race.grant(MINE);
        race.extend(MINE, IDLE.multipliedBy(2));
        race.moveClock(IDLE);
        race.queue(request(SECOND), 2);
        race.forget();
        long before = race.counter();

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);

        AcquireResult next = race.backend.acquire(request(SECOND).waitingAs(2).fromQueue());
        assertHolds(SECOND, next);
        assertThat(race.counter()).isGreaterThan(before);
    }

    private Void forget() {
        race.forget();
        return null;
    }

    private void lockAndForget() {
        last = race.grant(THEIRS).fence().value();
        race.backend.release(THEIRS);
        race.moveClock(IDLE);
        race.forget();
        assertThat(race.counters()).isEmpty();
    }

    private void assertHolds(String lockId, AcquireResult result) {
        assertThat(result)
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence().value())
                                .isGreaterThan(last)
                                .isEqualTo(race.counter()));
        assertThat(race.writers()).containsExactly(lockId);
    }

    /** The try has looked, and has found the counter or none. */
    private static Future<AcquireResult> startTryThatStopsBefore(String statement) throws SQLException {
        race.stopBefore(statement, "syncguard_fence_counters");
        return race.startAcquire(request(MINE));
    }
}
