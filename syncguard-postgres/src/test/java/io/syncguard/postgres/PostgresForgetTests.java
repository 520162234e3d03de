package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresBatches.request;
import static io.syncguard.postgres.RaceDatabase.KEY;
import static io.syncguard.postgres.RaceDatabase.MINE;
import static io.syncguard.postgres.RaceDatabase.PAST_THE_TTL;
import static io.syncguard.postgres.RaceDatabase.THEIRS;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Fences by the clock: a counter is forgotten when it was idle for the retention, and not earlier. */
class PostgresForgetTests {

    private static final Duration RETENTION = FenceSettings.RETENTION;

    @RegisterExtension
    static final PostgresRace race = PostgresRace.byTheClock();

    private final PostgresBatches batches = new PostgresBatches(race);

    @Test
    void a_counter_that_was_idle_for_longer_than_the_retention_is_deleted() {
        locked(KEY);
        race.moveClock(RETENTION);
        race.forget();
        assertThat(race.counters()).containsKey(KEY);

        race.moveClock(Duration.ofMillis(1));
        race.forget();

        assertThat(race.counters()).isEmpty();
    }

    @Test
    void a_counter_that_is_used_again_stays() {
        locked(KEY);
        locked("idle");
        race.moveClock(RETENTION);
        locked(KEY);
        race.moveClock(Duration.ofMillis(1));

        race.forget();

        assertThat(race.counters()).containsOnlyKeys(KEY);
    }

    @Test
    void the_next_fence_of_a_forgotten_key_is_larger_than_the_ones_before() {
        long last = race.grant(MINE).fence().value();
        race.backend.release(MINE);
        race.moveClock(RETENTION.plusMillis(1));
        race.forget();

        assertThat(race.grant(THEIRS).fence().value())
                .isEqualTo(race.now() * 100)
                .isGreaterThan(last);
    }

    /** It may have been set by hand, or come from a counter that was used before fences came from the clock. */
    @Test
    void a_counter_that_is_ahead_of_the_clock_stays_until_the_clock_has_passed_it() {
        locked(KEY);
        long ahead = Duration.ofDays(1000).toMillis();
        race.setCounters((race.now() + ahead) * 100);
        race.moveClock(Duration.ofMillis(ahead).plus(RETENTION));
        race.forget();
        assertThat(race.counters()).containsKey(KEY);

        race.moveClock(Duration.ofMillis(1));
        race.forget();

        assertThat(race.counters()).isEmpty();
    }

    @Test
    void the_counter_of_a_lease_stays_also_if_the_lease_has_lapsed() {
        race.grant(MINE);
        race.moveClock(RETENTION.plus(PAST_THE_TTL));
        race.forget();
        assertThat(race.counters()).containsKey(KEY);

        race.sweep(KEY);
        race.forget();

        assertThat(race.counters()).isEmpty();
    }

    @Test
    void the_counter_of_a_holder_who_never_takes_a_fence_stays() {
        race.grant(MINE);
        for (Duration held = Duration.ZERO; held.compareTo(RETENTION) < 0; held = held.plusHours(12)) {
            extendFor(Duration.ofDays(1));
            race.moveClock(Duration.ofHours(12));
        }

        race.forget();

        assertThat(race.counters()).containsKey(KEY);
        long fence = race.counter();
        assertThat(race.rotate(MINE))
                .isInstanceOfSatisfying(
                        ExtendResult.Rotated.class,
                        rotated -> assertThat(rotated.fence().value()).isGreaterThan(fence));
    }

    private void extendFor(Duration ttl) {
        assertThat(race.extend(MINE, ttl)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void the_counters_of_readers_and_waiters_stay() {
        race.grantShared(MINE);
        race.queue(RaceDatabase.request(THEIRS), 1);
        race.moveClock(RETENTION.plusMillis(1));
        race.jdbc.update("DELETE FROM syncguard_locks_shared");
        race.forget();
        assertThat(race.counters()).as("of a waiter").containsKey(KEY);
        race.jdbc.update("DELETE FROM syncguard_locks_waiters");
        race.grantShared(MINE);
        race.moveClock(RETENTION.plusMillis(1));
        race.forget();
        assertThat(race.counters()).as("of a reader").containsKey(KEY);

        race.jdbc.update("DELETE FROM syncguard_locks_shared");
        race.forget();

        assertThat(race.counters()).isEmpty();
    }

    @Test
    void a_counter_in_use_is_skipped() throws Exception {
        locked(KEY);
        locked("other");
        race.moveClock(RETENTION.plusMillis(1));
        race.inOther("SELECT FROM syncguard_fence_counters WHERE key_debug = 'k' FOR NO KEY UPDATE");

        race.forget();

        assertThat(race.counters()).containsOnlyKeys(KEY);
        race.commitOther();
    }

    @Test
    void each_call_looks_at_a_thousand_counters_and_says_where_the_next_one_begins() {
        race.jdbc.update(
                "INSERT INTO syncguard_fence_counters SELECT 'fence:' || n, 1, n FROM generate_series(10001, 12500) n");

        List<String> ends = new ArrayList<>();
        for (String last = ""; last != null; last = forgetBehind(last)) {
            ends.add(last);
        }

        assertThat(ends).containsExactly("", "fence:11000", "fence:12000", "fence:12500");
        assertThat(race.counters()).isEmpty();
    }

    private String forgetBehind(String last) {
        return race.jdbc.queryForObject(
                "SELECT syncguard_locks_forget(?, ?)", String.class, last, RETENTION.toMillis());
    }

    /** Whatever a process asks for: the store decides. */
    @Test
    void counters_are_never_forgotten_if_fences_come_from_them() {
        locked(KEY);
        race.functions.replace("fence_source", "() RETURNS TEXT", "SELECT 'counter'");
        race.moveClock(RETENTION.multipliedBy(100));

        race.forget();

        assertThat(race.counters()).containsKey(KEY);
    }

    /** Locks the key and releases it. */
    private void locked(String key) {
        batches.acquire(request(key, MINE));
        batches.release(PostgresBatches.lockId(key, MINE));
        assertThat(race.counters()).containsEntry(key, race.now() * 100);
    }
}
