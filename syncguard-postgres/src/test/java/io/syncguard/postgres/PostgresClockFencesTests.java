package io.syncguard.postgres;

import static io.syncguard.postgres.RaceDatabase.KEY;
import static io.syncguard.postgres.RaceDatabase.MINE;
import static io.syncguard.postgres.RaceDatabase.PAST_THE_TTL;
import static io.syncguard.postgres.RaceDatabase.THEIRS;
import static io.syncguard.postgres.RaceDatabase.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Fences by the clock in each function that draws them. {@code SameAnswersContract} has those of single requests, on
 * every store.
 */
class PostgresClockFencesTests {

    @RegisterExtension
    static final PostgresRace race = PostgresRace.byTheClock();

    private final PostgresBatches batches = new PostgresBatches(race);

    @ParameterizedTest
    @CsvSource({
        // last fence, clock, next fence
        "0, 1800000000000, 180000000000000",
        "179999999999998, 1800000000000, 180000000000000",
        "179999999999999, 1800000000000, 180000000000000",
        "180000000000000, 1800000000000, 180000000000001",
        "200000000000000, 1800000000000, 200000000000001",
        "0, 8099999999999, 809999999999900",
        "0, 8100000000000, 810000000000000",
        "0, 8100000000001, 810000000000000",
        "0, 9900000000000, 810000000000000",
        "810000000000000, 9900000000000, 810000000000001",
        "899999999999999, 9900000000000, 900000000000000"
    })
    void the_next_fence_is_that_of_the_clock_or_the_one_behind_the_last_and_has_fifteen_digits(
            long last, long clock, long next) {
        assertThat(race.jdbc.queryForObject("SELECT syncguard_locks_fence_after(?, ?)", Long.class, last, clock))
                .isEqualTo(next);
    }

    @Test
    void a_batch_writes_one_fence_to_counter_and_lease_however_often_the_clock_is_read() {
        race.tickingClock(Duration.ofMillis(1));

        for (String caller : List.of(MINE, THEIRS)) {
            List<@Nullable AcquireResult> results = batches.acquire(request("a", caller), request("b", caller));

            assertThat(fence(results.get(0))).isEqualTo(fence(results.get(1)));
            assertThat(race.counters())
                    .containsOnly(Map.entry("a", fence(results.get(0))), Map.entry("b", fence(results.get(1))));
            assertThat(race.jdbc.queryForList("SELECT fence::BIGINT FROM syncguard_locks", Long.class))
                    .containsOnly(fence(results.get(0)));
            batches.release(PostgresBatches.lockId("a", caller), PostgresBatches.lockId("b", caller));
        }
    }

    @Test
    void a_batch_takes_the_fence_behind_a_counter_that_is_ahead_of_the_clock() {
        batches.acquire(request("a", MINE), request("b", MINE));
        batches.release(PostgresBatches.lockId("a", MINE), PostgresBatches.lockId("b", MINE));
        race.moveClock(Duration.ofDays(-30));

        assertThat(batches.acquire(request("a", THEIRS), request("new", THEIRS)))
                .extracting(PostgresClockFencesTests::fence)
                .containsExactly(180_000_000_000_001L, (race.now()) * 100);
    }

    @Test
    void readers_of_one_key_in_a_batch_have_growing_fences_and_the_counter_is_the_last_one() {
        race.grant(MINE);
        race.backend.release(MINE);
        race.tickingClock(Duration.ofMillis(1));

        List<@Nullable AcquireResult> results = batches.acquire(reader("a"), reader("b"), reader("c"));

        long first = fence(results.get(0));
        assertThat(results).extracting(PostgresClockFencesTests::fence).containsExactly(first, first + 1, first + 2);
        assertThat(first).isGreaterThan(180_000_000_000_000L).isLessThanOrEqualTo(race.now() * 100);
        assertThat(first % 100).as("the fence of the clock").isZero();
        assertThat(race.counter()).isEqualTo(first + 2);
        assertThat(race.jdbc.queryForList("SELECT fence::BIGINT FROM syncguard_locks_shared ORDER BY 1", Long.class))
                .containsExactly(first, first + 1, first + 2);
    }

    @Test
    void the_counter_may_have_fences_for_some_readers_of_a_batch() {
        race.grant(MINE);
        race.backend.release(MINE);
        drawnUpTo(Fence.MAX_VALUE - 1);

        assertThat(batches.acquire(reader("a"), reader("b")))
                .satisfiesExactly(
                        first -> assertThat(first).isInstanceOf(AcquireResult.Granted.class),
                        second -> assertThat(second).isNull());

        assertThat(race.counter()).isEqualTo(Fence.MAX_VALUE);
    }

    @Test
    void behind_the_last_fence_there_is_none() {
        race.grant(MINE);
        race.backend.release(MINE);
        drawnUpTo(Fence.MAX_VALUE);

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> race.grant(THEIRS))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INTERNAL));
        assertThat(race.counter()).isEqualTo(Fence.MAX_VALUE);
    }

    /** The refused attempt has drawn a fence, which no other transaction has seen. */
    @Test
    void a_refusal_behind_a_pinned_lease_leaves_the_counter_between_the_last_fence_and_the_next_one() throws Exception {
        long last = race.grant(MINE).fence().value();
        race.moveClock(PAST_THE_TTL);
        race.pinWriter();

        assertThat(race.backend.acquire(request(KEY, THEIRS))).isInstanceOf(AcquireResult.Refused.class);

        long givenBack = race.counter();
        assertThat(givenBack).isGreaterThanOrEqualTo(last).isLessThan(race.now() * 100);
        race.commitOther();
        assertThat(race.grant(THEIRS).fence().value()).isEqualTo(race.now() * 100);
    }

    /** The clock would give a fence that is given already. */
    @Test
    void a_counter_that_the_clock_no_longer_makes_grow_is_never_forgotten() {
        race.jdbc.queryForObject("SELECT setval('test_clock', 9500000000000)", Long.class);
        race.grant(MINE);
        race.backend.release(MINE);
        race.moveClock(Duration.ofDays(400));

        race.forget();

        assertThat(race.counter()).isEqualTo(810_000_000_000_000L);
    }

    private void drawnUpTo(long fence) {
        race.jdbc.update("UPDATE syncguard_fence_counters SET fence = ?", fence);
    }

    private static AcquireRequest request(String key, String caller) {
        return Requests.exclusive(key, PostgresBatches.lockId(key, caller), TTL, "test");
    }

    private static AcquireRequest reader(String caller) {
        return Requests.shared(KEY, PostgresBatches.lockId(KEY, caller), TTL, "test");
    }

    private static long fence(@Nullable AcquireResult result) {
        assertThat(result).isInstanceOf(AcquireResult.Granted.class);
        return ((AcquireResult.Granted) result).fence().value();
    }
}
