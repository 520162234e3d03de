package io.syncguard.postgres;

import static io.syncguard.postgres.RaceDatabase.KEY;
import static io.syncguard.postgres.RaceDatabase.MINE;
import static io.syncguard.postgres.RaceDatabase.PAST_THE_TTL;
import static io.syncguard.postgres.RaceDatabase.THEIRS;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.core.EngineFixture;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A release by force ends what is live when its turn comes, waits for no pinned lease, and is durable. The engine tries
 * again what is locked for a moment, such as by a heartbeat.
 */
class PostgresForcedReleaseRaceTests {

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @Test
    void a_writer_under_which_a_transaction_commits_remains() throws Exception {
        race.grant(MINE);
        race.pinWriter();

        assertThat(forced()).isEqualTo(new Outcome(0, 1, null));
        assertThat(race.writers()).containsExactly(MINE);

        race.commitOther();
        assertThat(forced()).isEqualTo(new Outcome(1, 0, new Fence(2)));
    }

    @Test
    void a_reader_under_which_a_transaction_commits_remains_and_the_others_end() throws Exception {
        race.grantShared(MINE);
        race.grantShared(THEIRS);
        race.inOther("SELECT FROM syncguard_locks_shared WHERE lock_id = '" + MINE + "' FOR KEY SHARE");

        assertThat(forced()).isEqualTo(new Outcome(1, 1, new Fence(3)));
        assertThat(race.readers()).containsExactly(MINE);

        race.commitOther();
        assertThat(forced()).isEqualTo(new Outcome(1, 0, new Fence(4)));
    }

    @Test
    void readers_that_end_at_the_same_time_are_counted_one_by_one() {
        race.grantShared(MINE);
        race.grantShared(THEIRS);

        assertThat(forced().released()).isEqualTo(2);
    }

    @Test
    void a_lease_whose_grant_is_under_way_ends_too() throws Exception {
        race.grant(MINE);
        race.backend.release(MINE);
        race.inOther("SELECT syncguard_locks_next_fence('k')");
        race.inOther("SELECT syncguard_locks_grant('k', false, '" + THEIRS + "', 600000, 'test', 2)");
        Future<Outcome> release = race.startBlocked(this::forced);

        race.commitOther();

        assertThat(release.get()).isEqualTo(new Outcome(1, 0, new Fence(3)));
        assertThat(race.leases()).isEmpty();
    }

    @Test
    void a_lease_that_lapses_while_the_release_waits_has_not_been_ended_by_it() throws Exception {
        race.grant(MINE);
        race.lockSerialisingRow();
        Future<Outcome> release = race.startBlocked(this::forced);

        race.moveClock(PAST_THE_TTL);
        race.commitOther();

        assertThat(release.get()).isEqualTo(new Outcome(0, 0, null));
        assertThat(race.leases()).isEmpty();
    }

    @Test
    void a_key_that_was_never_locked_gets_no_counter() {
        forced();

        assertThat(race.counters()).isEmpty();
    }

    @Test
    void its_fence_is_durable() {
        race.jdbc.execute("""
                CREATE TABLE commits (setting TEXT);
                CREATE FUNCTION note() RETURNS TRIGGER LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO commits VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER note_delete AFTER DELETE ON syncguard_locks
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()
                """);
        try {
            race.grant(MINE);
            forced();

            assertThat(race.jdbc.queryForList("SELECT setting FROM commits", String.class))
                    .containsExactly("on");
        } finally {
            race.jdbc.execute("DROP TABLE commits; DROP FUNCTION note() CASCADE");
        }
    }

    /** How many leases have ended and how many have not. */
    private record Outcome(
            int released, int remaining, @Nullable Fence fence) {

        static Outcome of(ForcedRelease done) {
            return new Outcome(done.released().size(), done.remaining().size(), done.fence());
        }
    }

    /** What heartbeats and transactions lock, by the table of the leases. */
    enum Holders {
        WRITER(1, "syncguard_locks"),
        READERS(2, "syncguard_locks_shared");

        private final int leases;
        private final String table;

        Holders(int leases, String table) {
            this.leases = leases;
            this.table = table;
        }
    }

    @ParameterizedTest
    @EnumSource
    void leases_that_heartbeats_lock_at_that_moment_end(Holders holders) throws Exception {
        grant(holders);
        race.inOther("SELECT FROM " + holders.table + " FOR NO KEY UPDATE");

        assertThat(engineForced(race::commitOther))
                .isEqualTo(new Outcome(holders.leases, 0, new Fence(holders.leases + 1)));
        assertThat(race.backend.isLocked(KEY)).isFalse();
    }

    @Test
    void what_ends_in_different_tries_is_reported_together_under_the_last_fence() throws Exception {
        grant(Holders.READERS);
        race.inOther("SELECT FROM syncguard_locks_shared WHERE lock_id = '" + MINE + "' FOR NO KEY UPDATE");

        assertThat(engineForced(race::commitOther)).isEqualTo(new Outcome(2, 0, new Fence(4)));
    }

    @Test
    void there_is_no_fence_if_the_last_try_found_none_left() throws Exception {
        grant(Holders.READERS);
        race.setCounters(Fence.MAX_VALUE - 1);
        race.inOther("SELECT FROM syncguard_locks_shared WHERE lock_id = '" + MINE + "' FOR NO KEY UPDATE");

        assertThat(engineForced(race::commitOther)).isEqualTo(new Outcome(2, 0, null));
    }

    @Test
    void a_lease_that_ends_by_itself_before_the_next_try_is_not_counted() throws Exception {
        grant(Holders.READERS);
        race.inOther("DELETE FROM syncguard_locks_shared WHERE lock_id = '" + MINE + "'");

        assertThat(engineForced(race::commitOther)).isEqualTo(new Outcome(1, 0, new Fence(3)));
    }

    @ParameterizedTest
    @EnumSource
    void leases_that_stay_locked_remain(Holders holders) throws Exception {
        grant(holders);
        race.inOther("SELECT FROM " + holders.table + " FOR KEY SHARE");

        assertThat(engineForced(() -> {})).isEqualTo(new Outcome(0, holders.leases, null));
        assertThat(race.backend.lookup(KEY)).hasSize(holders.leases);
    }

    private static void grant(Holders holders) {
        if (holders == Holders.WRITER) {
            race.grant(MINE);
        } else {
            race.grantShared(MINE);
            race.grantShared(THEIRS);
        }
    }

    private Outcome forced() {
        return Outcome.of(race.backend.forceRelease(KEY));
    }

    /** What the engine makes of it, which tries again. */
    private static Outcome engineForced(Step afterFirstTry) throws Exception {
        try (EngineFixture fixture = new EngineFixture(race.newBackend(() -> {}))) {
            CountDownLatch tried = new CountDownLatch(1);
            fixture.backend.afterForcedRelease = tried::countDown;
            FutureTask<ForcedRelease> release =
                    EngineFixture.inAnotherThread(() -> fixture.engine.admin().forceRelease(KEY));
            EngineFixture.eventually().until(() -> tried.getCount() == 0);
            afterFirstTry.run();
            EngineFixture.eventually().until(() -> {
                fixture.time.advance(Duration.ofMillis(25));
                return release.isDone();
            });
            return Outcome.of(release.get());
        }
    }

    @FunctionalInterface
    private interface Step {
        void run() throws Exception;
    }
}
