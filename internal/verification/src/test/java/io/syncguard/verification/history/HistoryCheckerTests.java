package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.BUSY;
import static io.syncguard.verification.history.HistoryEvent.Outcome.FAILED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.rejects;
import static io.syncguard.verification.history.HistoryScript.script;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.Test;

/**
 * The checker rejects each history of a key in which grants, fences or refusals break the contract, and names the
 * events.
 */
class HistoryCheckerTests {

    @Test
    void a_grant_one_millisecond_before_the_lease_before_it_lapsed() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "1 ms before the lease before it had lapsed",
                script().grant("one", 1, 0, 100).by("b").grant("two", 2, 1099, 100));
    }

    @Test
    void a_grant_before_an_extended_lease_lapsed() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "500 ms before the lease before it had lapsed",
                script().grant("one", 1, 0, 100)
                        .extend("one", 600, 100, OK)
                        .by("b")
                        .grant("two", 2, 1200, 100));
    }

    @Test
    void a_grant_beside_a_lease_whose_release_failed() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                script().grant("one", 1, 0, 100)
                        .release("one", 50, FAILED)
                        .release("one", 60, BUSY)
                        .by("b")
                        .grant("two", 2, 100, 100));
    }

    @Test
    void a_fence_that_was_granted_twice() {
        rejects(
                Rule.FENCES,
                "one fence was granted twice",
                script().grant("one", 1, 0, 100).release("one", 10, OK).grant("two", 1, 20, 100));
    }

    @Test
    void a_fence_that_goes_down() {
        rejects(
                Rule.FENCES,
                "a later grant has a smaller fence",
                script().grant("one", 2, 0, 100).release("one", 10, OK).grant("two", 1, 20, 100));
    }

    @Test
    void a_fence_that_goes_down_by_the_clock_of_the_server() {
        rejects(
                Rule.FENCES,
                "a later grant has a smaller fence",
                script().taking(30)
                        .grant("one", 2, 0, 100)
                        .taking(1)
                        .release("one", 40, OK)
                        .grant("two", 1, 10, 100)
                        .release("two", 15, OK));
    }

    @Test
    void a_gap_between_fences_that_nothing_explains() {
        rejects(
                Rule.FENCES,
                "a gap of 1 between two fences",
                script().grant("one", 1, 0, 100).release("one", 10, OK).grant("two", 3, 20, 100));
    }

    @Test
    void a_gap_that_is_larger_than_the_number_of_unknown_outcomes() {
        rejects(
                Rule.FENCES,
                "a gap of 1 between two fences",
                script().grant("one", 1, 0, 100)
                        .release("one", 10, OK)
                        .acquire("lost", 12, 100, UNKNOWN)
                        .release("lost", 14, NOT_HELD)
                        .grant("two", 4, 20, 100));
    }

    @Test
    void a_gap_before_an_acquire_of_unknown_outcome_was_sent() {
        rejects(
                Rule.FENCES,
                "a gap of 1 between two fences",
                script().grant("one", 1, 0, 100)
                        .release("one", 10, OK)
                        .grant("two", 3, 20, 100)
                        .release("two", 30, OK)
                        .acquire("lost", 40, 100, UNKNOWN)
                        .release("lost", 45, NOT_HELD));
    }

    @Test
    void a_gap_after_an_acquire_of_unknown_outcome_has_settled() {
        rejects(
                Rule.FENCES,
                "a gap of 1 between two fences",
                script().acquire("lost", 0, 100, UNKNOWN)
                        .release("lost", 2, OK)
                        .grant("one", 1, 9000, 100)
                        .release("one", 9010, OK)
                        .grant("two", 3, 9020, 100));
    }

    @Test
    void a_counter_that_is_ahead_of_the_fences() {
        rejects(
                Rule.FENCES,
                "a gap of 1 between two fences",
                script().grant("one", 1, 0, 100).counter(2, 50));
    }

    @Test
    void a_counter_that_is_behind_the_fences() {
        rejects(
                Rule.FENCES,
                "the counter is behind",
                script().grant("one", 1, 0, 100).counter(0, 50));
    }

    @Test
    void a_refusal_with_nobody_there() {
        rejects(Rule.JUSTIFIED_REFUSAL, "the key was free", script().acquire("one", 0, 100, REFUSED));
    }

    @Test
    void a_refusal_after_the_release() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "the key was free",
                script().grant("one", 1, 0, 100).release("one", 10, OK).acquire("two", 20, 100, REFUSED));
    }

    @Test
    void a_refusal_after_the_lease_lapsed() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "the key was free",
                script().grant("one", 1, 0, 100).acquire("two", 1200, 100, REFUSED));
    }

    @Test
    void a_refusal_before_the_only_grant() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "the key was free",
                script().acquire("one", 0, 100, REFUSED).grant("two", 1, 10, 100));
    }

    @Test
    void a_nested_request_with_another_fence() {
        rejects(
                Rule.JOIN,
                "another fence than the outer one",
                script().grant("one", 1, 0, 100).joined("one", 10, 2, 1));
    }

    @Test
    void a_nested_request_that_knows_of_a_release_by_another_process() {
        rejects(
                Rule.JOIN,
                "another fence than the outer one",
                script().grant("one", 1, 0, 100)
                        .by("b")
                        .release("one", 5, OK)
                        .by("a")
                        .grant("two", 2, 10, 100)
                        .joined("one", 9, 2, 1));
    }

    @Test
    void a_grant_whose_time_was_read_before_the_row_was_won() {
        rejects(
                Rule.CLOCK_AFTER_LOCK,
                "older than the lock that it waited for",
                script().serialised(0, 100).taking(60).grant("one", 1, 50, 1000));
    }

    @Test
    void a_pinned_lease_that_is_released() {
        rejects(
                Rule.PINNED_STAYS,
                "a pinned lease was released",
                script().grant("one", 1, 0, 1000).pinned("one", 100, 200).release("one", 150, OK));
    }

    @Test
    void a_pinned_lease_that_is_taken_over() {
        rejects(
                Rule.PINNED_STAYS,
                "a pinned lease was taken over",
                script().grant("one", 1, 0, 100)
                        .pinned("one", 1000, 1200)
                        .by("b")
                        .grant("two", 2, 1150, 100));
    }

    @Test
    void a_holder_that_writes_after_its_successor_and_is_still_held() {
        rejects(
                Rule.EFFECTS,
                "wrote after its successor",
                script().grant("one", 1, 0, 100)
                        .by("b")
                        .grant("two", 2, 1100, 100)
                        .wrote("two", 2, 7, 1110, OK)
                        .by("a")
                        .wrote("one", 1, 8, 1120, OK));
    }

    @Test
    void a_guarded_commit_after_that_of_a_later_holder() {
        HistoryScript held = script().grant("one", 1, 0, 100).by("b").grant("two", 2, 1200, 100);

        rejects(
                Rule.COMMITS,
                "follows one with a larger fence",
                held.committed("two", 2, 1, 1210).by("a").committed("one", 1, 2, 1220));
    }

    @Test
    void two_guarded_commits_that_make_one_version() {
        rejects(
                Rule.COMMITS,
                "two commits made one version",
                script().grant("one", 1, 0, 1000).committed("one", 1, 3, 10).committed("one", 1, 3, 20));
    }

    @Test
    void a_leader_beside_another_one() {
        assertThat(script().led(1, 1, 0)
                        .by("b")
                        .led(2, 1, 10)
                        .by("a")
                        .led(1, 1, 20)
                        .check())
                .extracting(Violation::rule)
                .containsExactly(Rule.TERMS);
    }
}
