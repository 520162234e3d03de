package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.rejects;
import static io.syncguard.verification.history.HistoryScript.script;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.Test;

/**
 * The checker rejects each history in which one lease breaks the contract, by the rule for that, and names the events.
 */
class LeaseRulesTests {

    @Test
    void a_handle_that_is_held_after_its_successor_was_granted() {
        rejects(
                Rule.DEADLINE,
                "held after another holder was granted the key",
                script().grant("one", 1, 0, 1000)
                        .by("b")
                        .grant("two", 2, 500, 1000)
                        .by("a")
                        .held("one", 510, 400));
    }

    @Test
    void a_deadline_that_counts_from_the_reply() {
        rejects(
                Rule.DEADLINE,
                "longer than its ttl after the last confirmed request was sent",
                script().taking(20).grant("one", 1, 0, 100).taking(1).held("one", 30, 90));
    }

    @Test
    void a_deadline_that_outlives_an_extension_that_shortened() {
        rejects(
                Rule.DEADLINE,
                "longer than its ttl",
                script().grant("one", 1, 0, 1000).extend("one", 10, 100, OK).held("one", 20, 500));
    }

    @Test
    void a_deadline_that_an_extension_of_unknown_outcome_moved_on() {
        rejects(
                Rule.DEADLINE,
                "longer than its ttl",
                script().grant("one", 1, 0, 100)
                        .extend("one", 50, 1000, UNKNOWN)
                        .held("one", 60, 900));
    }

    @Test
    void a_handle_that_is_held_after_it_was_given_back() {
        rejects(
                Rule.DEADLINE,
                "held after it was released",
                script().grant("one", 1, 0, 100)
                        .releasedHandle("one", 10)
                        .release("one", 10, OK)
                        .held("one", 12, 50));
    }

    @Test
    void a_handle_that_is_held_after_it_was_lost() {
        rejects(
                Rule.DEADLINE,
                "held after it was lost",
                script().grant("one", 1, 0, 100).lost(1, 10).held("one", 12, 50));
    }

    @Test
    void a_lease_that_was_released_twice() {
        rejects(
                Rule.RELEASED_ONCE,
                "one lease was released 2 times",
                script().grant("one", 1, 0, 100).release("one", 10, OK).release("one", 10, OK));
    }

    @Test
    void a_handle_that_was_given_back_twice() {
        rejects(
                Rule.RELEASED_ONCE,
                "one lease was released 2 times",
                script().grant("one", 1, 0, 100).releasedHandle("one", 10).releasedHandle("one", 20));
    }

    @Test
    void a_lease_that_is_found_after_its_release() {
        rejects(
                Rule.RELEASED_ONCE,
                "a lease lives after its release",
                script().grant("one", 1, 0, 100).release("one", 10, OK).found("one", 1, 0, 20));
    }

    @Test
    void an_extension_after_the_release() {
        rejects(
                Rule.OVER_IS_OVER,
                "a lease lives after its release",
                script().grant("one", 1, 0, 100).release("one", 10, OK).extend("one", 20, 100, OK));
    }

    @Test
    void a_stale_holder_that_releases_after_a_takeover() {
        rejects(
                Rule.OVER_IS_OVER,
                "after a larger fence was granted",
                script().grant("one", 1, 0, 100)
                        .by("b")
                        .grant("two", 2, 1100, 1000)
                        .by("a")
                        .release("one", 1110, OK));
    }

    @Test
    void a_heartbeat_of_a_stale_holder_that_extends_after_a_takeover() {
        rejects(
                Rule.OVER_IS_OVER,
                "after a larger fence was granted",
                script().grant("one", 1, 0, 100)
                        .by("b")
                        .grant("two", 2, 1100, 1000)
                        .by("a")
                        .extend("one", 1110, 100, OK));
    }

    @Test
    void an_extension_that_revives_a_lapsed_lease() {
        rejects(
                Rule.OVER_IS_OVER,
                "a lease was revived 1300 ms after its end",
                script().grant("one", 1, 0, 100).extend("one", 1400, 100, OK));
    }

    @Test
    void a_release_of_a_lapsed_lease() {
        rejects(
                Rule.OVER_IS_OVER,
                "a lease lives after it had lapsed",
                script().grant("one", 1, 0, 100).release("one", 1150, OK));
    }

    @Test
    void a_lapsed_lease_that_is_found() {
        rejects(
                Rule.OVER_IS_OVER,
                "a lease lives after it had lapsed",
                script().grant("one", 1, 0, 100).found("one", 1, 0, 1150));
    }

    @Test
    void an_extension_of_a_lease_that_was_ended_in_the_table() {
        rejects(
                Rule.OVER_IS_OVER,
                "a lease lives after it was ended",
                script().grant("one", 1, 0, 1000).ended("one", 10).extend("one", 20, 100, OK));
    }

    @Test
    void an_extension_that_changes_the_fence() {
        rejects(
                Rule.SAME_GRANT,
                "fence or time of a grant changed",
                script().grant("one", 1, 0, 100).extend("one", 10, 100, OK).found("one", 2, 0, 20));
    }

    @Test
    void an_extension_that_changes_the_time_of_the_grant() {
        rejects(
                Rule.SAME_GRANT,
                "fence or time of a grant changed",
                script().grant("one", 1, 0, 100).extend("one", 10, 100, OK).found("one", 1, 10, 20));
    }

    @Test
    void a_live_lease_that_is_not_found_by_its_id() {
        rejects(
                Rule.NOTHING_VANISHES,
                "a live lease was not found",
                script().grant("one", 1, 0, 100).missed("one", 50));
    }

    @Test
    void a_live_lease_that_is_not_found_by_its_key() {
        rejects(
                Rule.NOTHING_VANISHES,
                "a live lease was not found",
                script().grant("one", 1, 0, 100).missed("", 50));
    }

    @Test
    void a_live_lease_that_cannot_be_released() {
        rejects(
                Rule.NOTHING_VANISHES,
                "a live lease was not found",
                script().grant("one", 1, 0, 100).release("one", 1050, NOT_HELD));
    }

    @Test
    void a_live_lease_that_cannot_be_extended() {
        rejects(
                Rule.NOTHING_VANISHES,
                "a live lease was not found",
                script().grant("one", 1, 0, 100).extend("one", 50, 1000, NOT_HELD));
    }

    @Test
    void a_lease_that_nobody_was_granted() {
        rejects(
                Rule.NOTHING_LEAKS,
                "without a grant",
                script().grant("one", 1, 0, 100)
                        .acquire("two", 10, 100, REFUSED)
                        .release("two", 20, OK));
    }

    @Test
    void an_acquire_of_unknown_outcome_that_nobody_releases() {
        rejects(
                Rule.NOTHING_LEAKS,
                "was not released by its id",
                script().acquire("one", 0, 100, UNKNOWN).processEnded("a", 10_000));
    }

    @Test
    void a_loss_that_is_reported_twice() {
        rejects(
                Rule.LOSS_REPORTED_ONCE,
                "one loss was reported 2 times",
                script().grant("one", 1, 0, 100).lost(1, 100).lost(1, 110));
    }

    @Test
    void a_loss_of_a_lease_that_was_given_back() {
        rejects(
                Rule.LOSS_REPORTED_ONCE,
                "a loss was reported of a lease whose handle was released",
                script().grant("one", 1, 0, 100).releasedHandle("one", 50).lost(1, 100));
    }

    @Test
    void a_loss_that_is_not_reported() {
        rejects(
                Rule.LOSS_REPORTED_ONCE,
                "a loss was never reported",
                script().grant("one", 1, 0, 100).sawLoss("one", 110).processEnded("a", 10_000));
    }
}
