package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.start;
import static io.syncguard.postgres.PostgresRace.timeLeft;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Readers and writers that meet at the rows of a key: a writer is alone, whichever session stalls, lapses or pins at
 * whatever step.
 */
class PostgresSharedRaceTests {

    private static final String WRITER = "writer----------------";

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace(51);

    @Test
    void of_fifty_readers_and_writers_who_meet_at_a_new_key_one_writer_is_granted_or_readers_only() throws Exception {
        race.inOther("INSERT INTO syncguard_fence_counters VALUES ('fence:k', 0, 'k')");
        List<Future<AcquireResult>> attempts = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            AcquireRequest request = i % 5 == 0 ? request("writer " + i) : reader("reader " + i);
            attempts.add(start(() -> race.backend.acquire(request)));
        }
        race.awaitBlocked(50);

        // All fifty have read that the key is free, and wait for a row that does not exist.
        race.inOther("DELETE FROM syncguard_fence_counters");
        race.commitOther();

        List<Fence> fences = new ArrayList<>();
        for (Future<AcquireResult> attempt : attempts) {
            if (attempt.get() instanceof AcquireResult.Granted grant) {
                fences.add(grant.fence());
            }
        }
        assertThat(fences).hasSize(race.leases().isEmpty() ? 40 : 1).doesNotHaveDuplicates();
        assertThat(race.leases().size() + race.readers().size()).isEqualTo(fences.size());
        assertThat(race.counter()).isEqualTo(fences.size());
    }

    @Test
    void a_reader_that_looked_before_a_writer_was_granted_is_refused() throws Exception {
        race.stopBeforeRow("INSERT", "syncguard_locks");
        Future<AcquireResult> writer = race.startAcquire(request(WRITER));
        Future<AcquireResult> reader = race.startAcquire(reader(MINE));

        race.greenLight();

        assertThat(writer.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(reader.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.counter()).as("a refusal gives its fence back").isEqualTo(1);
    }

    @Test
    void a_writer_that_looked_before_a_reader_was_granted_is_refused() throws Exception {
        race.stopBefore("INSERT", "syncguard_locks_shared");
        Future<AcquireResult> reader = race.startAcquire(reader(MINE));
        Future<AcquireResult> writer = race.startAcquire(request(WRITER));

        race.greenLight();

        assertThat(reader.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(writer.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.counter()).isEqualTo(1);
    }

    @Test
    void a_reader_that_looked_before_a_writer_queued_does_not_pass_it() throws Exception {
        race.grantShared(THEIRS);
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<AcquireResult> writer = race.startAcquire(request(WRITER).waitingAs(1));
        Future<AcquireResult> reader = race.startAcquire(reader(MINE));

        race.greenLight();

        assertThat(writer.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(reader.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.readers()).containsExactly(THEIRS);
        assertThat(race.counter()).isEqualTo(1);
    }

    /** The fence shows whether the key was granted since it was seen free. */
    @Test
    void who_stalls_before_it_draws_its_fence_at_a_free_key_passes_nobody_who_came_meanwhile() throws Exception {
        race.grant(MINE);
        race.backend.release(MINE);
        race.stopBefore("UPDATE", "syncguard_fence_counters");
        Future<AcquireResult> attempt = race.startAcquire(request(WRITER));

        race.grant(THEIRS);
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.counter()).isEqualTo(2);
    }

    @Test
    void a_writer_that_is_about_to_delete_a_lapsed_reader_leaves_it_when_it_is_extended_meanwhile() throws Exception {
        race.grantShared(THEIRS);
        race.moveClock(PAST_THE_TTL);
        // Inside the statement that deletes: its snapshot is older than the extension.
        race.stopBefore("DELETE", "syncguard_locks_shared");
        Future<AcquireResult> attempt = race.startAcquire(request(WRITER));

        race.moveClock(Duration.ofMillis(-1));
        assertThat(race.extend(THEIRS)).isInstanceOf(ExtendResult.Extended.class);
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.readers()).containsExactly(THEIRS);
    }

    @Test
    void readers_who_meet_at_a_lapsed_writer_are_all_granted() throws Exception {
        race.grant(WRITER);
        race.moveClock(PAST_THE_TTL);
        race.lockSerialisingRow();
        List<Future<AcquireResult>> attempts = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            AcquireRequest request = reader("reader " + i);
            attempts.add(start(() -> race.backend.acquire(request)));
        }
        race.awaitBlocked(10);

        race.commitOther();

        for (Future<AcquireResult> attempt : attempts) {
            assertThat(attempt.get()).isInstanceOf(AcquireResult.Granted.class);
        }
        assertThat(race.leases()).isEmpty();
        assertThat(race.readers()).hasSize(10);
        assertThat(race.counter()).isEqualTo(11);
    }

    @Test
    void an_extension_of_a_reader_that_stalls_before_it_looks_revives_nothing_beside_a_writer() throws Exception {
        race.grantShared(MINE);
        race.stopExtensionBeforeItLooks();
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.moveClock(PAST_THE_TTL);
        race.grant(WRITER);
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(race.readers()).isEmpty();
    }

    @Test
    void an_extension_of_a_reader_that_stalls_with_its_row_locked_keeps_a_writer_out_and_then_revives_nothing()
            throws Exception {
        race.grantShared(MINE);
        race.stopExtensionBeforeItJudges("syncguard_locks_shared");
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.moveClock(PAST_THE_TTL);
        race.assertRefusedForAMoment(request(WRITER));
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Expired.class);
        race.grant(WRITER);
        assertThat(race.readers()).isEmpty();
    }

    @Test
    void an_extension_of_a_reader_that_stalls_after_it_looked_keeps_a_writer_out_and_holds_on() throws Exception {
        race.grantShared(MINE);
        race.grantShared(THEIRS);
        race.moveClock(PAST_THE_TTL.dividedBy(2));
        race.stopExtensionBeforeItWrites("syncguard_locks_shared");
        Future<ExtendResult> extension = race.startExtend(MINE);

        race.moveClock(PAST_THE_TTL.dividedBy(2));
        race.assertRefusedForAMoment(request(WRITER));
        race.greenLight();

        assertThat(extension.get()).isInstanceOf(ExtendResult.Extended.class);
        assertThat(timeLeft(race.backend.acquire(request(WRITER))))
                .isEqualTo(TTL.plusSeconds(1).minus(PAST_THE_TTL.dividedBy(2)));
        assertThat(race.readers()).as("the other one was deleted").containsExactly(MINE);
        assertThat(race.counter()).as("refusals give their fences back").isEqualTo(2);
    }

    @Test
    void a_lapsed_reader_that_somebody_pins_keeps_a_writer_out_and_no_readers() throws Exception {
        race.grantShared(MINE);
        race.moveClock(PAST_THE_TTL);
        race.pinReaders();

        race.assertRefusedForAMoment(request(WRITER));
        assertThat(race.counter()).isEqualTo(1);
        race.grantShared(THEIRS);
        race.backend.release(THEIRS);

        race.commitOther();
        assertThat(race.grant(WRITER).fence()).isEqualTo(new Fence(3));
        assertThat(race.readers()).isEmpty();
    }

    @Test
    void a_lapsed_writer_that_somebody_pins_keeps_readers_out() throws Exception {
        race.grant(WRITER);
        race.moveClock(PAST_THE_TTL);
        race.pinWriter();

        race.assertRefusedForAMoment(reader(MINE));

        race.commitOther();
        race.grantShared(MINE);
        assertThat(race.leases()).isEmpty();
    }

    @Test
    void a_waiter_in_front_of_a_pinned_lapsed_reader_queues_for_a_moment() throws Exception {
        race.grantShared(MINE);
        race.moveClock(PAST_THE_TTL);
        race.pinReaders();

        assertThat(race.queue(request(WRITER), 1).nextLook()).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
    }

    @Test
    void the_release_of_a_pinned_reader_is_busy_and_does_not_wait() throws Exception {
        race.grantShared(MINE);
        race.pinReaders();

        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.BUSY);
        assertThat(race.extend(MINE)).as("passes").isInstanceOf(ExtendResult.Extended.class);
        race.moveClock(PAST_THE_TTL);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.EXPIRED);

        race.moveClock(PAST_THE_TTL.negated());
        race.commitOther();
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.RELEASED);
    }

    @Test
    void a_locked_reader_does_not_hold_up_the_extensions_of_others() throws Exception {
        race.grantShared(MINE);
        race.grantShared(THEIRS);
        race.inOther("SELECT FROM syncguard_locks_shared WHERE lock_id = '" + MINE + "' FOR UPDATE");

        assertThat(race.extend(MINE)).isInstanceOf(ExtendResult.Busy.class);
        assertThat(race.extend(THEIRS)).isInstanceOf(ExtendResult.Extended.class);
    }

    @Test
    void a_reader_that_lapses_while_its_release_waits_has_expired_and_a_writers_takeover_stays() throws Exception {
        race.grantShared(MINE);
        race.lockSerialisingRow();
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.moveClock(PAST_THE_TTL);
        race.commitOther();

        assertThat(release.get()).isEqualTo(ReleaseResult.EXPIRED);
        race.grant(WRITER);
        assertThat(race.backend.release(MINE)).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(race.backend.lookupById(WRITER)).isPresent();
    }
}
