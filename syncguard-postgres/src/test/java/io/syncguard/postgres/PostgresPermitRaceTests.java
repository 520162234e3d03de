package io.syncguard.postgres;

import static io.syncguard.postgres.PostgresRace.start;
import static io.syncguard.postgres.RaceDatabase.FIRST;
import static io.syncguard.postgres.RaceDatabase.FOURTH;
import static io.syncguard.postgres.RaceDatabase.KEY;
import static io.syncguard.postgres.RaceDatabase.MINE;
import static io.syncguard.postgres.RaceDatabase.PAST_THE_TTL;
import static io.syncguard.postgres.RaceDatabase.SECOND;
import static io.syncguard.postgres.RaceDatabase.THEIRS;
import static io.syncguard.postgres.RaceDatabase.THIRD;
import static io.syncguard.postgres.RaceDatabase.TTL;
import static io.syncguard.postgres.RaceDatabase.reader;
import static io.syncguard.postgres.RaceDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests with permits that meet at the rows of a key: there are never more leases than a request has permits when it
 * is granted, whichever session stalls, lapses, pins or leaves.
 */
class PostgresPermitRaceTests {

    private static final List<String> WAITERS = List.of(FIRST, SECOND, THIRD, FOURTH);

    @RegisterExtension
    private static final PostgresRace race = new PostgresRace(14);

    private final PostgresBatches batches = new PostgresBatches(race);

    /** Some alone and some in batches, which see the same free places before they wait for the row. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7})
    void of_ten_who_meet_at_a_key_as_many_are_granted_as_there_are_permits(int permits) throws Exception {
        hold(permits);
        race.backend.release("holder 1");
        race.lockSerialisingRow();
        List<Future<AcquireResult>> attempts = IntStream.range(0, 10)
                .mapToObj(i -> start(() -> race.backend.acquire(permit("request " + i, permits))))
                .toList();
        race.awaitBlocked(10);

        race.commitOther();

        List<AcquireResult> results = new ArrayList<>();
        for (Future<AcquireResult> attempt : attempts) {
            results.add(attempt.get());
        }
        assertThat(results).filteredOn(AcquireResult.Granted.class::isInstance).hasSize(1);
        assertThat(race.readers()).hasSize(permits);
    }

    @Test
    void a_batch_that_looked_before_the_last_place_was_taken_grants_nothing() throws Exception {
        hold(1);
        race.functions.setPatient("acquire_readers");
        race.stopAfterCall("syncguard_locks_free_readers");
        Future<List<AcquireResult>> batch = race.startBlocked(() -> batches.acquire(permit(MINE, 2)));

        assertThat(race.backend.acquire(permit(THEIRS, 2))).isInstanceOf(AcquireResult.Granted.class);
        race.greenLight();

        assertThat(batch.get()).hasOnlyElementsOfType(AcquireResult.Refused.class);
        assertThat(race.readers()).hasSize(2);
    }

    @Test
    void a_lapsed_lease_counts_while_its_extension_is_under_way_and_may_come_back() throws Exception {
        hold(1);
        race.stopExtensionBeforeItWrites("syncguard_locks_shared");
        Future<ExtendResult> extension = race.startExtend("holder 1");
        race.moveClock(PAST_THE_TTL);

        race.assertRefusedForAMoment(permit(MINE, 1));
        assertThat(batches.acquire(permit(MINE, 1))).hasOnlyElementsOfType(AcquireResult.Refused.class);
        assertThat(race.backend.acquire(permit(THEIRS, 2))).isInstanceOf(AcquireResult.Granted.class);
        race.assertRefusedForAMoment(permit(MINE, 2));

        race.greenLight();
        assertThat(extension.get()).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.readers()).containsExactly("holder 1", THEIRS);
    }

    @Test
    void a_lapsed_lease_that_a_transaction_pins_takes_a_place_until_its_end() throws Exception {
        hold(2);
        race.pinReaders();
        race.moveClock(PAST_THE_TTL);

        race.assertRefusedForAMoment(permit(MINE, 2));
        assertThat(race.backend.acquire(permit(THEIRS, 3))).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.readers()).hasSize(3);

        race.commitOther();
        assertThat(race.backend.acquire(permit(MINE, 2))).isInstanceOf(AcquireResult.Granted.class);
        assertThat(race.readers()).containsExactly(THEIRS, MINE);
    }

    /** No wake-up reports the end of the transaction. */
    @Test
    void a_waiter_looks_again_soon_while_a_lapsed_lease_is_pinned_beside_a_live_one() throws Exception {
        hold(1);
        race.pinReaders();
        race.moveClock(PAST_THE_TTL);
        race.backend.acquire(permit(THEIRS, 2));

        AcquireRequest waiter = permit(MINE, 2);
        for (AcquireRequest attempt : List.of(waiter, waiter.fromQueue())) {
            assertThat(race.queue(attempt, 1).nextLook()).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
        }
    }

    @Test
    void a_lapsed_lease_is_deleted_only_where_its_place_is_needed() {
        hold(1);
        race.moveClock(PAST_THE_TTL);

        race.backend.acquire(permit(MINE, 2));
        assertThat(race.readers()).containsExactly("holder 1", MINE);

        race.backend.acquire(permit(THEIRS, 2));
        assertThat(race.readers()).containsExactly(MINE, THEIRS);
    }

    @Test
    void a_lapsed_lease_that_is_extended_before_it_is_deleted_keeps_its_place() throws Exception {
        hold(1);
        race.moveClock(PAST_THE_TTL);
        race.stopBefore("DELETE", "syncguard_locks_shared");
        Future<AcquireResult> attempt = race.startAcquire(permit(MINE, 1));

        race.moveClock(Duration.ofMillis(-1));
        assertThat(race.extend("holder 1")).isInstanceOf(ExtendResult.Extended.class);
        race.greenLight();

        assertThat(attempt.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.readers()).containsExactly("holder 1");
    }

    @Test
    void one_who_looked_before_another_queued_does_not_pass_it() throws Exception {
        hold(1);
        race.stopBefore("INSERT", "syncguard_locks_waiters");
        Future<AcquireResult> waiter = race.startAcquire(permit(FIRST, 1).waitingAs(1));
        Future<AcquireResult> larger = race.startAcquire(permit(MINE, 2));
        Future<AcquireResult> reader = race.startAcquire(reader(THEIRS));

        race.greenLight();

        assertThat(waiter.get()).isInstanceOf(AcquireResult.Queued.class);
        assertThat(larger.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(reader.get()).isInstanceOf(AcquireResult.Refused.class);
        assertThat(race.readers()).hasSize(1);
    }

    @Test
    void a_release_hands_out_as_many_places_as_there_are_with_fences_in_the_order_of_arrival() throws Exception {
        race.grant(MINE);
        queueForHandOver(3, 3, 3, 3);

        race.backend.release(MINE);

        assertThat(race.readers()).containsExactly(FIRST, SECOND, THIRD);
        assertThat(race.waiters()).containsExactly(FOURTH);
        assertThat(race.counter()).isEqualTo(4);
        assertThat(race.woken()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void no_later_fence_of_a_hand_over_to_several_has_an_earlier_time() throws Exception {
        race.grant(MINE);
        queueForHandOver(3, 3, 3);
        race.functions.tickingClock(Duration.ofMillis(1));

        race.backend.release(MINE);

        assertThat(race.jdbc.queryForList(
                        "SELECT acquired_at_ms FROM syncguard_locks_shared ORDER BY fence", Long.class))
                .hasSize(3)
                .isSorted();
    }

    @ParameterizedTest
    @ValueSource(strings = {FIRST, SECOND, THIRD})
    void one_who_leaves_in_the_middle_of_a_hand_over_to_several_gives_its_place_back(String leaver) throws Exception {
        race.grant(MINE);
        queueForHandOver(3, 3, 3);
        race.stopAfter("INSERT", "syncguard_locks_shared");
        Future<ReleaseResult> release = race.startRelease(MINE);
        Future<ReleaseResult> leaving = race.startRelease(leaver);

        race.greenLight();

        assertThat(release.get().outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(leaving.get().outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(race.readers()).hasSize(2).doesNotContain(leaver);
        assertThat(race.waiters()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {FIRST, SECOND, THIRD})
    void one_who_leaves_first_is_handed_nothing_and_the_others_all(String leaver) throws Exception {
        race.grant(MINE);
        queueForHandOver(3, 3, 3, 3);
        race.stopAfter("DELETE", "syncguard_locks_waiters");
        Future<ReleaseResult> leaving = race.startRelease(leaver);
        Future<ReleaseResult> release = race.startRelease(MINE);

        race.greenLight();

        assertThat(leaving.get().outcome()).isEqualTo(Outcome.LEFT);
        assertThat(release.get().outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(race.readers())
                .containsExactlyElementsOf(WAITERS.stream()
                        .filter(waiter -> !waiter.equals(leaver))
                        .toList());
    }

    @Test
    void one_who_asks_in_the_middle_of_a_hand_over_is_answered_its_grant() throws Exception {
        race.grant(MINE);
        queueForHandOver(2, 2);
        race.stopAfter("INSERT", "syncguard_locks_shared");
        Future<ReleaseResult> release = race.startRelease(MINE);
        Future<AcquireResult> again =
                race.startAcquire(permit(SECOND, 2).waitingAs(2).fromQueue());

        race.greenLight();

        assertThat(release.get().outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(again.get())
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence().value()).isEqualTo(3));
        assertThat(race.readers()).containsExactly(FIRST, SECOND);
    }

    @Test
    void a_place_is_handed_out_of_an_entry_that_is_being_renewed_and_its_lease_is_younger() throws Exception {
        race.grant(MINE);
        queueForHandOver(2, 2);
        race.stopAfter("UPDATE", "syncguard_locks_waiters");
        Future<List<Duration>> renewal = race.startBlocked(() -> race.renewWaiters(FIRST, SECOND));
        Future<ReleaseResult> release = race.startRelease(MINE);
        race.moveClock(Duration.ofSeconds(2));

        race.greenLight();

        renewal.get();
        assertThat(release.get().outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(race.backend.lookup(KEY))
                .hasSize(2)
                .allSatisfy(
                        lease -> assertThat(lease.acquiredAt().toEpochMilli()).isEqualTo(race.now()));
    }

    @Test
    void one_whose_entry_lapses_in_the_middle_of_a_hand_over_leaves_its_place_to_the_next() throws Exception {
        race.grant(MINE);
        queueForHandOver(2, 2, 2);
        race.moveClock(Duration.ofSeconds(3));
        race.renewWaiters(SECOND, THIRD);
        race.stopBefore("DELETE", "syncguard_locks_waiters");
        Future<ReleaseResult> release = race.startRelease(MINE);
        race.moveClock(Duration.ofSeconds(3));

        race.greenLight();

        assertThat(release.get().outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(race.readers()).containsExactly(SECOND, THIRD);
        assertThat(race.woken()).containsExactly(2L, 3L);
    }

    @Test
    void a_lapsed_lease_whose_extension_is_under_way_counts_in_a_hand_over() throws Exception {
        hold(2);
        race.stopExtensionBeforeItWrites("syncguard_locks_shared");
        Future<ExtendResult> extension = race.startExtend("holder 1");
        race.moveClock(TTL.minusSeconds(1));
        race.extend("holder 2");
        queueForHandOver(2, 2);
        race.moveClock(Duration.ofSeconds(2));

        race.backend.release("holder 2");

        race.greenLight();
        assertThat(extension.get()).isInstanceOf(ExtendResult.Extended.class);
        assertThat(race.readers()).containsExactly("holder 1", FIRST);
    }

    @Test
    void a_lapsed_lease_gives_its_place_to_a_hand_over() throws Exception {
        hold(1);
        race.moveClock(TTL);
        race.backend.acquire(permit(MINE, 2));
        queueForHandOver(2, 2, 2);
        race.moveClock(Duration.ofSeconds(1));

        race.backend.release(MINE);

        assertThat(race.readers()).containsExactly(FIRST, SECOND);
    }

    @Test
    void a_release_ends_its_run_at_64_and_wakes_the_next() throws Exception {
        race.grant(MINE);
        for (int i = 1; i <= 66; i++) {
            race.queue(permit("waiter " + i, 100), i);
        }
        race.jdbc.update("UPDATE syncguard_locks_waiters SET hand_over = true");

        race.backend.release(MINE);

        assertThat(race.readers()).hasSize(64);
        assertThat(race.waiters()).containsExactly("waiter 65", "waiter 66");
        assertThat(race.woken())
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 65).mapToObj(Long::valueOf).toList());
    }

    /** The waiters are: with this number of permits, R reader, W writer, and P one that accepts no hand-over. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "2 2 2: 2 granted, none woken",
                "2 3 3: 3 granted, none woken",
                "2 1 3: 1 granted, none woken",
                "2 R 3: 1 granted, 2 woken",
                "3 P 3: 1 granted, 2 woken",
                "3 W 3: 1 granted, none woken",
                "R 2 2: 0 granted, 1 woken",
                "P 2 2: 0 granted, 1 woken",
                "R R 2: 0 granted, 1 2 woken",
                "W 2 2: 1 granted, none woken",
            })
    void who_is_granted_and_who_is_woken_by_the_release_of_a_writer(String row) throws Exception {
        race.grant(MINE);
        String[] parts = row.split(": | granted, | woken");
        queueRow(parts[0].split(" "));

        race.backend.release(MINE);

        int granted = Integer.parseInt(parts[1]);
        List<Long> told = new ArrayList<>();
        for (long i = 1; i <= granted; i++) {
            told.add(i);
        }
        if (!parts[2].equals("none")) {
            for (String woken : parts[2].split(" ")) {
                told.add(Long.valueOf(woken));
            }
        }
        assertThat(race.woken()).isEqualTo(told);
        assertThat(race.waiters()).containsExactlyElementsOf(WAITERS.subList(granted, 3));
    }

    @Test
    void a_grant_that_leaves_room_wakes_the_next_waiter_whatever_that_is() throws Exception {
        race.grant(MINE);
        queueRow("P", "P", "R", "W");
        race.backend.release(MINE);
        assertThat(race.woken()).containsExactly(1L);

        race.backend.acquire(permit(FIRST, 9).waitingAs(1).fromQueue());
        assertThat(race.woken()).containsExactly(2L);

        race.backend.acquire(permit(SECOND, 9).waitingAs(2).fromQueue());
        assertThat(race.woken()).containsExactly(3L);

        race.backend.acquire(reader(THIRD).waitingAs(3).fromQueue());
        assertThat(race.woken()).isEmpty();
    }

    @Test
    void readers_who_are_granted_wake_one_with_permits_behind_them_and_not_each_other() throws Exception {
        race.grant(MINE);
        queueRow("R", "R", "P");
        race.backend.release(MINE);
        assertThat(race.woken()).containsExactly(1L, 2L);

        race.backend.acquire(reader(FIRST).waitingAs(1).fromQueue());
        assertThat(race.woken()).isEmpty();

        race.backend.acquire(reader(SECOND).waitingAs(2).fromQueue());
        assertThat(race.woken()).containsExactly(3L);
    }

    @Test
    void grants_of_a_batch_that_leave_room_wake_the_next_waiter() throws Exception {
        race.grant(MINE);
        queueRow("R", "R", "P", "P");
        race.backend.release(MINE);
        race.woken();

        batches.acquire(
                reader(FIRST).waitingAs(1).fromQueue(),
                reader(SECOND).waitingAs(2).fromQueue());
        assertThat(race.woken()).containsExactly(3L);

        batches.acquire(permit(THIRD, 9).waitingAs(3).fromQueue());
        assertThat(race.woken()).containsExactly(4L);
    }

    @Test
    void a_grant_that_leaves_no_room_wakes_nobody() throws Exception {
        hold(1);
        race.queue(permit(FIRST, 1), 1);
        race.queue(permit(SECOND, 1), 2);
        race.backend.release("holder 1");
        assertThat(race.woken()).containsExactly(1L);

        race.backend.acquire(permit(FIRST, 1).waitingAs(1).fromQueue());

        assertThat(race.woken()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"leaves", "tries for the last time", "leaves in a batch"})
    void one_with_few_permits_who_goes_wakes_all_behind_it(String how) throws Exception {
        hold(1);
        race.queue(permit(FIRST, 1), 1);
        race.queue(reader(SECOND), 2);
        race.queue(reader(THIRD), 3);
        race.queue(permit(FOURTH, 9), 4);

        switch (how) {
            case "leaves" -> race.backend.release(FIRST);
            case "leaves in a batch" -> race.backend.releaseAll(List.of(new KeyedLockId(FIRST)));
            default -> race.backend.acquire(permit(FIRST, 1).fromQueue());
        }

        assertThat(race.woken()).containsExactly(2L, 3L, 4L);
    }

    @Test
    void the_cleanup_wakes_those_behind_one_whose_process_has_died() throws Exception {
        hold(1);
        race.queue(permit(FIRST, 1), 1);
        race.moveClock(PostgresSettings.WAITER_TTL.minusSeconds(1));
        race.queue(permit(SECOND, 9), 2);
        race.moveClock(Duration.ofSeconds(1));

        race.sweep(KEY);

        assertThat(race.woken()).containsExactly(2L);
    }

    @Test
    void the_cleanup_of_lapsed_leases_wakes_the_first_waiter() throws Exception {
        hold(2);
        race.moveClock(TTL.minusSeconds(1));
        race.queue(permit(FIRST, 2), 1);
        race.queue(permit(SECOND, 2), 2);
        race.moveClock(Duration.ofMillis(3500));

        assertThat(race.sweep(KEY)).isEqualTo(2);

        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void force_wakes_the_first_of_those_who_can_be_granted() throws Exception {
        hold(3);
        race.queue(permit(FIRST, 3), 1);
        race.queue(permit(SECOND, 3), 2);

        assertThat(race.backend.forceRelease(KEY).released()).hasSize(3);

        assertThat(race.woken()).containsExactly(1L);
    }

    @Test
    void a_waiter_who_renews_its_entry_learns_at_once_that_there_is_room() {
        hold(3);
        race.queue(permit(FIRST, 3), 1);
        race.queue(permit(SECOND, 3), 2);
        race.queue(reader(THIRD), 3);
        assertThat(race.renewWaiters(FIRST).get(0)).isEqualTo(TTL.plusSeconds(1));

        race.jdbc.update("DELETE FROM syncguard_locks_shared WHERE lock_id = 'holder 1'");

        assertThat(race.renewWaiters(FIRST, SECOND, THIRD))
                .containsExactly(Duration.ZERO, PostgresSettings.WAITER_TTL, PostgresSettings.WAITER_TTL);
    }

    /** The lease that has to end is the second but last. */
    @Test
    void a_refusal_tells_the_time_until_there_is_room() {
        for (int i = 1; i <= 4; i++) {
            hold("holder " + i);
            race.moveClock(Duration.ofSeconds(1));
        }

        assertThat(RaceDatabase.timeLeft(race.backend.acquire(permit(MINE, 4)))).isEqualTo(TTL.minusSeconds(3));
        assertThat(RaceDatabase.timeLeft(race.backend.acquire(permit(MINE, 2)))).isEqualTo(TTL.minusSeconds(1));
        assertThat(RaceDatabase.timeLeft(race.backend.acquire(request(MINE)))).isEqualTo(TTL);
        assertThat(RaceDatabase.timeLeft(race.queue(permit(FIRST, 2), 1))).isEqualTo(TTL.minusSeconds(3));
    }

    @Test
    void a_batch_of_releases_hands_its_places_out() throws Exception {
        hold(3);
        queueForHandOver(3, 3, 3, 3);

        assertThat(batches.release("holder 1", "holder 2"))
                .extracting(ReleaseResult::outcome)
                .containsExactly(Outcome.RELEASED, Outcome.RELEASED);

        assertThat(race.readers()).containsExactly("holder 3", FIRST, SECOND);
        assertThat(race.woken()).containsExactly(1L, 2L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"R", "W"})
    void a_batch_of_releases_leaves_a_key_alone_whose_first_waiter_has_no_permits(String first) {
        hold(3);
        queueRow("W", first, "3");
        race.backend.release(FIRST);

        assertThat(batches.release("holder 1", "holder 2")).containsOnlyNulls();

        assertThat(race.readers()).hasSize(3);
        assertThat(race.waiters()).containsExactly(SECOND, THIRD);
    }

    @Test
    void hand_overs_to_the_own_process_are_in_the_answers_and_those_to_others_are_messages() throws Exception {
        hold(3);
        queueForHandOver(3, 3, 3);
        race.jdbc.update("UPDATE syncguard_locks_waiters SET channel = 'own' WHERE waiter <> 2");
        race.inTransaction(jdbc -> {
            List<Object> answers = jdbc.queryForList(
                    "SELECT array_to_string(handed_over, ' ') FROM"
                            + " syncguard_locks_release_batch(ARRAY['holder 1', 'holder 2', 'holder 3'], 'own')",
                    Object.class);
            assertThat(answers.get(0).toString()).matches("1 4 \\d+ \\d+ 3 6 \\d+ \\d+");
            assertThat(answers.subList(1, 3)).containsOnlyNulls();
        });
        assertThat(race.woken()).containsExactly(2L);
        assertThat(race.readers()).containsExactly(FIRST, SECOND, THIRD);
    }

    @Test
    void a_single_release_answers_the_hand_overs_to_its_own_process() throws Exception {
        race.grant(MINE);
        queueForHandOver(3, 3, 3);
        race.jdbc.update("UPDATE syncguard_locks_waiters SET channel = 'own' WHERE waiter <> 2");

        String answer = race.jdbc
                .queryForMap("CALL syncguard_locks_hand_over(NULL, ?, 'own', true, NULL, NULL, NULL)", MINE)
                .get("handed_over")
                .toString();

        assertThat(answer).matches("\\{1,2,\\d+,\\d+,3,4,\\d+,\\d+}");
        assertThat(race.woken()).containsExactly(2L);
    }

    /** Requests of a batch: with this number of permits, or R for a reader. Upper case G is granted, Q queued. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "2 2 2: G G Q",
                "1 1 5: G Q Q",
                "1 5 R: G G G",
                "1 1 R: G Q Q",
                "R R 2: G G Q",
                "R R 3: G G G",
                "R 1 R: G Q Q",
            })
    void a_batch_counts_its_own_grants_and_nobody_passes_one_in_front(String row) {
        race.grant(MINE);
        race.backend.release(MINE);
        String[] parts = row.split(": ");
        List<AcquireRequest> requests = requests(parts[0].split(" "));

        List<AcquireResult> results = batches.acquire(requests);

        assertThat(results)
                .extracting(result -> result instanceof AcquireResult.Granted
                        ? "G"
                        : result instanceof AcquireResult.Queued ? "Q" : "-")
                .containsExactly(parts[1].split(" "));
        assertThat(race.counter()).isEqualTo(1 + race.readers().size());
    }

    private static List<AcquireRequest> requests(String... row) {
        return IntStream.range(0, row.length)
                .mapToObj(i -> waiting(row[i], WAITERS.get(i)).waitingAs(i + 1))
                .toList();
    }

    private static AcquireRequest waiting(String kind, String lockId) {
        return switch (kind) {
            case "R" -> reader(lockId);
            case "W" -> request(lockId);
            case "P" -> permit(lockId, 9);
            default -> permit(lockId, Integer.parseInt(kind));
        };
    }

    /** All but readers and P accept hand-overs. */
    private static void queueRow(String... row) {
        for (int i = 0; i < row.length; i++) {
            race.queue(waiting(row[i], WAITERS.get(i)), i + 1);
        }
        race.jdbc.update("UPDATE syncguard_locks_waiters SET hand_over = coalesce(permits <> 9, false)");
    }

    private static void queueForHandOver(int... permits) {
        for (int i = 0; i < permits.length; i++) {
            race.queue(permit(WAITERS.get(i), permits[i]), i + 1);
        }
        race.jdbc.update("UPDATE syncguard_locks_waiters SET hand_over = true");
    }

    private static void hold(int holders) {
        for (int i = 1; i <= holders; i++) {
            hold("holder " + i);
        }
    }

    private static void hold(String lockId) {
        assertThat(race.backend.acquire(permit(lockId, 100))).isInstanceOf(AcquireResult.Granted.class);
    }

    private static AcquireRequest permit(String lockId, int permits) {
        return Requests.of(KEY, LockMode.SHARED, permits, lockId, TTL, "test", false, false, null);
    }
}
