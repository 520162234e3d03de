package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.MINE;
import static io.syncguard.postgres.PostgresRace.PAST_THE_TTL;
import static io.syncguard.postgres.PostgresRace.THEIRS;
import static io.syncguard.postgres.PostgresRace.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Array;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A release takes requests for its key along, which queue before it, and hands over in its answer. */
class PostgresQueueingReleaseTests {

    /** The channel of all waiters of the race. */
    private static final String OWN = "race";

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace();

    @Test
    void the_first_request_is_granted_in_the_answer_and_the_others_queue() throws Exception {
        race.grant(MINE);

        assertThat(release(MINE, OWN))
                .containsEntry("outcome", "released")
                .containsEntry("queued", true)
                .containsEntry("handed_over", List.of(1L, 2L, race.now(), race.now() + 5000));

        assertThat(race.writers()).containsExactly("first");
        assertThat(race.waiters()).containsExactly("second", "third");
        assertThat(race.woken()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {OWN, "another"})
    void who_waits_already_is_in_front_and_is_sent_a_message_if_it_waits_elsewhere(String channel) throws Exception {
        race.grant(MINE);
        race.queue(request(THEIRS), 7);
        race.jdbc.update("UPDATE syncguard_locks_waiters SET hand_over = true");

        Map<String, Object> answer = release(MINE, channel);

        assertThat(answer)
                .containsEntry("queued", true)
                .containsEntry(
                        "handed_over", channel.equals(OWN) ? List.of(7L, 2L, race.now(), race.now() + 5000) : null);
        assertThat(race.woken()).isEqualTo(channel.equals(OWN) ? List.of() : List.of(7L));
        assertThat(race.writers()).containsExactly(THEIRS);
        assertThat(race.waiters()).containsExactly("first", "second", "third");
    }

    @Test
    void a_release_that_is_repeated_because_of_a_pin_takes_its_requests_along_again() throws Exception {
        race.grant(MINE);
        race.pinWriter();

        assertThat(release(MINE, OWN)).containsEntry("outcome", "busy").containsEntry("queued", true);
        assertThat(race.waiters()).containsExactly("first", "second", "third");
        race.commitOther();

        assertThat(release(MINE, OWN))
                .containsEntry("outcome", "released")
                .containsEntry("handed_over", List.of(1L, 2L, race.now(), race.now() + 5000));
        assertThat(race.waiters()).containsExactly("second", "third");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lapsed", "shared", "unknown", "queued"})
    void requests_do_not_queue_behind_anything_but_a_live_exclusive_lease(String state) throws Exception {
        switch (state) {
            case "lapsed" -> {
                race.grant(MINE);
                race.moveClock(PAST_THE_TTL);
            }
            case "shared" -> race.grantShared(MINE);
            case "queued" -> {
                race.grant(THEIRS);
                race.queue(request(MINE), 7);
            }
            default -> race.grant(THEIRS);
        }

        assertThat(release(MINE, OWN)).containsEntry("queued", false).containsEntry("handed_over", null);

        assertThat(race.waiters()).isEmpty();
    }

    /** It would change the other key without the serialising row of that one. */
    @Test
    void a_release_under_the_name_of_another_key_finds_nothing() throws Exception {
        race.grant(MINE);
        race.jdbc.update("INSERT INTO syncguard_fence_counters (fence_key, fence) VALUES ('fence:another', 7)");

        assertThat(release(MINE, OWN, "another"))
                .containsEntry("outcome", "busy")
                .containsEntry("queued", false);

        assertThat(race.writers()).containsExactly(MINE);
        assertThat(race.waiters()).isEmpty();
        assertThat(race.jdbc.queryForList("SELECT fence FROM syncguard_fence_counters ORDER BY fence", Long.class))
                .containsExactly(1L, 7L);
    }

    private static Map<String, Object> release(String lockId, String channel) throws SQLException {
        return release(lockId, channel, "k");
    }

    /** With two requests that accept a hand-over, and a reader between them. */
    private static Map<String, Object> release(String lockId, String channel, String key) throws SQLException {
        Map<String, Object> answer = race.jdbc.queryForMap("""
                CALL syncguard_locks_queue_and_hand_over(?, ?, true, ?, ARRAY['first', 'second', 'third'],
                    ARRAY[false, true, false], ARRAY[1, NULL, 1], ARRAY['a', 'b', 'c'], ARRAY[1, 2, 3]::BIGINT[],
                    ARRAY['s', NULL, 's'], ARRAY[true, false, true], 5000, NULL, NULL, NULL)
                """, lockId, channel, key);
        if (answer.get("handed_over") instanceof Array handedOver) {
            answer.put("handed_over", List.of((Long[]) handedOver.getArray()));
        }
        return answer;
    }
}
