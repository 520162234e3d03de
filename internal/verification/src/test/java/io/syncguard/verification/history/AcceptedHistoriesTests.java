package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.BUSY;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.accepts;
import static io.syncguard.verification.history.HistoryScript.script;

import org.junit.jupiter.api.Test;

/** The checker accepts histories that the contract allows, including those with unknown outcomes. */
class AcceptedHistoriesTests {

    @Test
    void a_reader_that_gets_the_lease_of_a_request_without_an_answer_after_another_was_granted_the_key() {
        accepts(script().reading()
                .acquire("one", 0, 1000, UNKNOWN)
                .by("b")
                .grant("two", 2, 10, 1000)
                .by("a")
                .grant("one", 1, 20, 1000)
                .release("one", 30, OK)
                .counter(2, 40));
    }

    @Test
    void leases_that_are_released_and_taken_in_turn() {
        accepts(script().grant("one", 1, 0, 100)
                .held("one", 10, 80)
                .by("b")
                .acquire("two", 20, 100, REFUSED)
                .by("a")
                .found("one", 1, 0, 25)
                .releasedHandle("one", 30)
                .release("one", 30, OK)
                .missed("one", 35)
                .missed("", 35)
                .by("b")
                .grant("three", 2, 40, 100)
                .counter(2, 50));
    }

    @Test
    void a_request_without_an_answer_that_is_executed_after_the_lease_of_the_next_one() {
        accepts(script().acquire("one", 0, 300, UNKNOWN)
                .grant("one", 1, 110, 300)
                .release("one", 150, OK)
                .by("b")
                .acquire("two", 200, 300, REFUSED)
                .by("a")
                .release("one", 400, OK)
                .by("b")
                .grant("two", 3, 500, 300)
                .release("two", 600, OK)
                .counter(3, 700));
    }

    @Test
    void an_extension_by_another_client_of_a_grant_to_a_request_without_an_answer() {
        accepts(script().acquire("one", 0, 300, UNKNOWN)
                .grant("one", 1, 110, 300)
                .release("one", 150, OK)
                .by("b")
                .extend("one", 200, 300, OK)
                .by("a")
                .release("one", 400, OK)
                .counter(2, 700));
    }

    @Test
    void a_grant_at_the_very_millisecond_at_which_the_lease_before_it_lapsed() {
        accepts(script().grant("one", 1, 0, 100).by("b").grant("two", 2, 1100, 100));
    }

    @Test
    void a_lease_that_was_shortened_and_lapsed() {
        accepts(script().grant("one", 1, 0, 5000)
                .extend("one", 10, 100, OK)
                .held("one", 20, 89)
                .by("b")
                .grant("two", 2, 1111, 100));
    }

    @Test
    void a_lease_that_another_thread_released_before_its_holder_was_answered() {
        accepts(script().taking(20)
                .grant("one", 1, 0, 1000)
                .taking(1)
                .on("other")
                .release("one", 10, OK)
                .by("b")
                .grant("two", 2, 15, 100)
                .by("a")
                .on("client")
                .held("one", 25, 970)
                .release("one", 30, NOT_HELD));
    }

    @Test
    void a_lease_that_another_thread_shortened_before_its_holder_was_answered() {
        accepts(script().taking(20)
                .grant("one", 1, 0, 1000)
                .taking(1)
                .on("other")
                .extend("one", 10, 100, OK)
                .on("client")
                .held("one", 25, 970));
    }

    @Test
    void a_handle_that_another_thread_extended_before_its_holder_used_it() {
        accepts(script().grant("one", 1, 0, 100)
                .on("other")
                .extend("one", 10, 1000, OK)
                .on("client")
                .held("one", 25, 980));
    }

    @Test
    void a_nested_request_of_a_thread_whose_lock_another_one_has_released() {
        accepts(script().grant("one", 1, 0, 100)
                .on("other")
                .release("one", 5, OK)
                .on("client")
                .grant("two", 2, 10, 100)
                .joined("one", 9, 2, 1));
    }

    @Test
    void a_lease_that_was_perhaps_shortened_and_lapsed() {
        accepts(script().grant("one", 1, 0, 5000)
                .extend("one", 10, 100, UNKNOWN)
                .by("b")
                .grant("two", 2, 1111, 100));
    }

    @Test
    void an_extension_in_the_second_for_which_a_lease_is_kept() {
        accepts(script().grant("one", 1, 0, 100).extend("one", 1099, 100, OK).release("one", 2190, OK));
    }

    @Test
    void a_lapsed_lease_of_which_the_server_knows_nothing() {
        accepts(script().grant("one", 1, 0, 100)
                .missed("one", 1100)
                .extend("one", 1100, 100, NOT_HELD)
                .release("one", 1101, NOT_HELD)
                .lost(1, 1102)
                .sawLoss("one", 1103)
                .processEnded("a", 10_000));
    }

    @Test
    void unknown_outcomes_that_explain_a_gap() {
        accepts(script().grant("one", 1, 0, 100)
                .release("one", 10, OK)
                .acquire("lost", 12, 100, UNKNOWN)
                .release("lost", 14, OK)
                .acquireWithoutAnswer("killed", 15, 100)
                .by("b")
                .grant("two", 4, 1200, 100)
                .counter(4, 1300)
                .processEnded("a", 20));
    }

    @Test
    void an_unknown_outcome_that_the_counter_alone_shows() {
        accepts(script().grant("one", 1, 0, 100)
                .release("one", 10, OK)
                .acquire("lost", 12, 100, UNKNOWN)
                .release("lost", 14, OK)
                .counter(2, 50));
    }

    @Test
    void an_unknown_outcome_that_came_to_nothing() {
        accepts(script().acquire("lost", 0, 100, UNKNOWN)
                .release("lost", 2, NOT_HELD)
                .grant("one", 1, 10, 100)
                .counter(1, 20));
    }

    @Test
    void an_unknown_outcome_whose_release_waits_behind_a_stuck_one() {
        accepts(script().acquire("lost", 0, 100, UNKNOWN)
                .releaseStuckOf("a", 3000)
                .processEnded("a", 10_000));
    }

    @Test
    void a_refusal_by_a_grant_of_which_nobody_was_informed() {
        accepts(script().acquire("lost", 0, 100, UNKNOWN)
                .release("lost", 30, OK)
                .by("b")
                .acquire("one", 10, 100, REFUSED)
                .acquire("two", 20, 100, REFUSED));
    }

    @Test
    void a_refusal_by_a_process_that_was_killed_and_sent_its_request_at_the_end() {
        accepts(script().acquireWithoutAnswer("killed", 0, 100)
                .by("b")
                .acquire("one", 4000, 100, REFUSED)
                .processEnded("a", 3000));
    }

    @Test
    void a_refusal_by_a_lapsed_lease_that_is_pinned() {
        accepts(script().grant("one", 1, 0, 100)
                .pinned("one", 1000, 1300)
                .by("b")
                .acquire("two", 1200, 100, REFUSED));
    }

    @Test
    void a_refusal_by_a_lapsed_lease_that_a_stalled_extension_has_locked() {
        accepts(script().grant("one", 1, 0, 100)
                .taking(500)
                .extend("one", 1000, 600, OK)
                .taking(1)
                .by("b")
                .acquire("two", 1200, 100, REFUSED)
                .grant("three", 2, 2600, 100));
    }

    @Test
    void a_refusal_by_a_lapsed_lease_that_is_being_swept() {
        accepts(script().grant("one", 1, 0, 100).swept(2150).by("b").acquire("two", 2150, 100, REFUSED));
    }

    @Test
    void a_release_of_unknown_outcome_and_the_next_grant() {
        accepts(script().grant("one", 1, 0, 5000)
                .release("one", 10, UNKNOWN)
                .by("b")
                .grant("two", 2, 20, 100)
                .by("a")
                .release("one", 30, NOT_HELD));
    }

    @Test
    void a_holder_that_does_not_know_yet_that_another_client_released_it() {
        accepts(script().grant("one", 1, 0, 1000)
                .by("b")
                .release("one", 10, OK)
                .grant("two", 2, 20, 100)
                .by("a")
                .held("one", 30, 900)
                .wrote("one", 1, 5, 31, OK));
    }

    @Test
    void a_holder_that_does_not_know_yet_that_its_lease_was_deleted() {
        accepts(script().grant("one", 1, 0, 1000)
                .by("people")
                .ended("one", 10)
                .by("b")
                .grant("two", 2, 20, 100)
                .by("a")
                .held("one", 30, 900)
                .extend("one", 40, 1000, NOT_HELD));
    }

    @Test
    void a_waiter_whose_grant_comes_after_requests_without_answer_and_is_over_when_it_is_released() {
        accepts(script().reading()
                .acquire("reader", 0, 1000, UNKNOWN)
                .taking(2000)
                .grant("reader", 1, 10, 100)
                .taking(1)
                .release("reader", 2020, NOT_HELD)
                .release("reader", 3000, NOT_HELD)
                .processEnded("a", 20_000));
    }

    @Test
    void a_paused_holder_that_writes_late_and_then_learns_that_it_lost() {
        accepts(script().grant("one", 1, 0, 100)
                .by("b")
                .grant("two", 2, 1100, 100)
                .wrote("two", 2, 7, 1110, OK)
                .by("a")
                .wrote("one", 1, 8, 1120, NOT_HELD));
    }

    @Test
    void a_pinned_lease_that_is_busy_and_extended() {
        accepts(script().grant("one", 1, 0, 1000)
                .pinned("one", 100, 300)
                .release("one", 150, BUSY)
                .extend("one", 200, 1000, OK)
                .release("one", 310, OK));
    }

    @Test
    void a_grant_that_waited_for_the_serialising_row() {
        accepts(script().serialised(0, 100).grant("one", 1, 101, 100));
    }
}
