package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.TTL;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static io.syncguard.postgres.PostgresRace.timeLeft;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared leases and queue entries are judged by the server's clock, read after the wait for the serialising row. */
class PostgresQueueClockTests {

    private static final String WAITER = "waiter----------------";

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @Test
    void a_reader_is_live_for_a_second_after_its_end_for_every_operation_and_no_longer() {
        race.grantShared(MINE);

        race.assertLiveForASecondAfterItsEnd(MINE);
        race.grant(THEIRS);
    }

    @Test
    void a_queue_entry_is_live_until_its_end_and_no_longer() throws Exception {
        race.grant(MINE);
        race.queue(request(WAITER), 1);
        race.backend.release(MINE);

        race.moveClock(PostgresSettings.WAITER_TTL.minusMillis(1));
        assertThat(timeLeft(race.backend.acquire(reader(THEIRS)))).isEqualTo(Duration.ofMillis(1));

        race.moveClock(Duration.ofMillis(1));
        race.grantShared(THEIRS);
    }

    @Test
    void a_refusal_reports_the_latest_end_of_the_leases_and_of_the_queue_entries_in_front() {
        race.grantShared(MINE);
        race.queue(request(WAITER), 1);
        assertThat(timeLeft(race.backend.acquire(request(THEIRS)))).isEqualTo(TTL.plusSeconds(1));
        assertThat(timeLeft(race.backend.acquire(reader(THEIRS)))).isEqualTo(PostgresSettings.WAITER_TTL);

        race.extend(MINE, Duration.ofSeconds(2));

        assertThat(timeLeft(race.backend.acquire(request(THEIRS)))).isEqualTo(PostgresSettings.WAITER_TTL);
    }

    @Test
    void a_shared_grant_that_waited_for_its_row_has_its_whole_ttl() throws Exception {
        race.grantShared(THEIRS);
        Future<AcquireResult> attempt = startAndWaitForTheRow(reader(MINE));

        race.moveClock(TTL);
        race.commitOther();

        AcquireResult.Granted grant = (AcquireResult.Granted) attempt.get();
        assertThat(grant.expiresAt().toEpochMilli()).isEqualTo(race.now() + TTL.toMillis());
    }

    @Test
    void a_queue_entry_that_waited_for_its_row_is_renewed_for_its_whole_time() throws Exception {
        race.grant(THEIRS);
        Future<AcquireResult> attempt = startAndWaitForTheRow(request(WAITER).waitingAs(1));

        race.moveClock(Duration.ofSeconds(5));
        race.commitOther();

        assertThat(timeLeft(attempt.get())).isEqualTo(TTL.minusSeconds(4));
        assertThat(race.jdbc.queryForObject("SELECT expires_at_ms FROM syncguard_locks_waiters", Long.class))
                .isEqualTo(race.now() + PostgresSettings.WAITER_TTL.toMillis());
    }

    @Test
    void a_waiter_whose_row_was_in_use_while_the_one_in_front_died_is_granted() throws Exception {
        race.grant(THEIRS);
        race.queue(request("dead"), 1);
        race.backend.release(THEIRS);
        Future<AcquireResult> attempt = startAndWaitForTheRow(reader(MINE).waitingAs(2));

        race.moveClock(PostgresSettings.WAITER_TTL);
        race.commitOther();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Granted.class);
    }

    @Test
    void a_writer_whose_row_was_in_use_while_the_readers_lapsed_is_granted() throws Exception {
        race.grantShared(THEIRS);
        Future<AcquireResult> attempt = startAndWaitForTheRow(request(MINE).waitingAs(1));

        race.moveClock(TTL.plusSeconds(1));
        race.commitOther();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.readers()).isEmpty();
    }

    @Test
    void a_step_back_makes_readers_live_again_for_a_writer_that_waited() throws Exception {
        race.grantShared(THEIRS);
        race.moveClock(TTL.plusSeconds(1));
        Future<AcquireResult> attempt = startAndWaitForTheRow(request(MINE));

        race.moveClock(Duration.ofMillis(-1));
        race.commitOther();

        assertThat(timeLeft(attempt.get())).isEqualTo(Duration.ofMillis(1));
        assertThat(race.readers()).containsExactly(THEIRS);
    }

    private static Future<AcquireResult> startAndWaitForTheRow(AcquireRequest request) throws Exception {
        race.lockSerialisingRow();
        Future<AcquireResult> attempt = race.startAcquire(request);
        return attempt;
    }
}
