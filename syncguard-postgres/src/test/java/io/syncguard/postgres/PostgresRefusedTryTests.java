package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.reader;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireResult;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A refused try is a pure read, whatever refuses it: it writes nothing, locks no row and waits for none. */
class PostgresRefusedTryTests {

    private static final String TRY = """
            SELECT granted_fence, time_left_ms
            FROM syncguard_locks_acquire('k', ?, 1, 'try', 60000, 'test', false, NULL, NULL, NULL, NULL, NULL)
            """;

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void because_of_a_writer(boolean shared) throws Exception {
        race.grant(MINE);

        assertReadsOnly(shared);
    }

    @Test
    void because_of_readers() throws Exception {
        race.grantShared(MINE);
        race.grantShared(THEIRS);

        assertReadsOnly(false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void because_of_a_grantable_waiter(boolean shared) throws Exception {
        race.grant(MINE);
        race.queue(request("writer"), 1);
        race.backend.release(MINE);

        assertReadsOnly(shared);
    }

    @Test
    void because_of_grantable_readers() throws Exception {
        race.grant(MINE);
        race.queue(reader("reader"), 1);
        race.backend.release(MINE);

        assertReadsOnly(false);
    }

    @Test
    void because_of_a_writer_who_waits_behind_readers() throws Exception {
        race.grantShared(MINE);
        race.queue(request("writer"), 1);

        assertReadsOnly(true);
    }

    @Test
    void because_of_a_writer_with_others_behind_it() throws Exception {
        race.grant(MINE);
        race.queue(request("writer"), 1);
        race.queue(reader("reader"), 2);

        assertReadsOnly(false);
    }

    private static void assertReadsOnly(boolean shared) throws Exception {
        long before = race.counter();
        race.lockSerialisingRow();
        assertThat(race.backend.acquire(shared ? reader("try") : request("try")))
                .as("beside a session that has the serialising row")
                .isInstanceOf(AcquireResult.Refused.class);
        race.commitOther();

        // Every session that writes or locks a row has a transaction id.
        race.inTransaction(jdbc -> {
            Map<String, Object> answer = jdbc.queryForMap(TRY, shared);
            assertThat(answer.get("granted_fence")).isNull();
            assertThat((Long) answer.get("time_left_ms")).isPositive();
            assertThat(jdbc.queryForObject("SELECT txid_current_if_assigned()", Long.class))
                    .isNull();
        });
        assertThat(race.counter()).isEqualTo(before);
    }
}
