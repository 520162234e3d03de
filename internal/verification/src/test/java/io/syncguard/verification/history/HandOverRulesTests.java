package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.QUEUED;
import static io.syncguard.verification.history.HistoryScript.rejects;
import static io.syncguard.verification.history.HistoryScript.script;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.Test;

/**
 * The checker rejects each history with a hand-over to the wrong waiter or at the wrong time, or with a deadline that
 * is too late.
 */
class HandOverRulesTests {

    @Test
    void a_deadline_that_counts_from_the_message() {
        rejects(
                Rule.DEADLINE,
                "longer than its ttl after the last confirmed request was sent",
                handed().held("waiter", 40, 4990));
    }

    @Test
    void a_deadline_as_if_the_first_lease_were_a_whole_ttl() {
        rejects(Rule.DEADLINE, "longer than its ttl", handed().held("waiter", 40, 5960));
    }

    @Test
    void a_message_that_is_accepted_although_it_is_older_than_the_queue_entry() {
        rejects(
                Rule.DEADLINE,
                "longer than its ttl",
                handed().by("people")
                        .ended("waiter", 40)
                        .by("c")
                        .grant("next", 3, 50, 10_000)
                        .by("b")
                        .line("waiter", 60)
                        .held("waiter", 70, 4980));
    }

    @Test
    void a_handle_that_is_held_after_the_key_was_handed_to_another_waiter() {
        rejects(
                Rule.DEADLINE,
                "held after another holder was granted the key",
                handed().by("a").held("holder", 40, 900));
    }

    @Test
    void a_queue_entry_that_is_confirmed_after_it_became_a_grant() {
        rejects(
                Rule.HAND_OVER,
                "confirmed by a request that was sent after the hand-over",
                released().by("b").renew("waiter", 60).handed("waiter", 2, 30, 70));
    }

    @Test
    void a_key_for_a_caller_who_does_not_wait() {
        rejects(
                Rule.HAND_OVER,
                "to a caller without a queue entry",
                script().grant("holder", 1, 0, 1000)
                        .release("holder", 30, OK)
                        .by("b")
                        .handed("waiter", 2, 30, 35));
    }

    @Test
    void a_key_for_a_waiter_who_left() {
        rejects(
                Rule.HAND_OVER,
                "to a waiter that had left",
                waits().by("b")
                        .release("waiter", 20, LEFT)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("b")
                        .handed("waiter", 2, 30, 35));
    }

    @Test
    void a_key_for_a_waiter_whose_queue_entry_had_lapsed() {
        rejects(
                Rule.HAND_OVER,
                "to a lapsed queue entry",
                script().grant("holder", 1, 0, 20_000)
                        .by("b")
                        .line("waiter", 10)
                        .renew("waiter", 1000)
                        .by("a")
                        .release("holder", 6100, OK)
                        .by("b")
                        .handed("waiter", 2, 6100, 6110));
    }

    @Test
    void a_key_for_a_reader() {
        rejects(
                Rule.HAND_OVER,
                "to a waiter that does not accept it",
                script().grant("holder", 1, 0, 1000)
                        .by("b")
                        .reading()
                        .line("waiter", 10)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("b")
                        .handed("waiter", 2, 30, 35));
    }

    @Test
    void a_key_for_a_waiter_whose_ttl_is_shorter_than_a_first_lease() {
        rejects(
                Rule.HAND_OVER,
                "to a waiter that does not accept it",
                script().grant("holder", 1, 0, 1000)
                        .by("b")
                        .acquire("waiter", 10, 4999, QUEUED)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("b")
                        .handed("waiter", 2, 30, 35));
    }

    @Test
    void a_first_lease_as_long_as_the_ttl() {
        rejects(
                Rule.HAND_OVER,
                "a first lease is 6000 ms long",
                released().by("b").handed("waiter", 2, 30, 6000, 35));
    }

    @Test
    void a_key_that_nobody_released() {
        rejects(
                Rule.HAND_OVER,
                "handed over without a release",
                waits().by("people").ended("holder", 20).by("b").handed("waiter", 2, 30, 35));
    }

    @Test
    void a_key_that_nobody_had() {
        rejects(
                Rule.HAND_OVER,
                "handed over without a release",
                script().by("b").line("waiter", 10).handed("waiter", 1, 30, 35));
    }

    @Test
    void a_key_that_is_handed_over_beside_its_holder() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                waits().by("b").handed("waiter", 2, 30, 35));
    }

    @Test
    void a_key_that_is_handed_over_beside_a_reader() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                script().reading()
                        .grant("one", 1, 0, 1000)
                        .grant("two", 2, 1, 1000)
                        .by("b")
                        .writing()
                        .line("waiter", 10)
                        .by("a")
                        .release("two", 20, OK)
                        .by("b")
                        .handed("waiter", 3, 20, 25));
    }

    @Test
    void a_grant_beside_one_that_was_handed_over() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                handed().by("c").grant("next", 3, 100, 100));
    }

    @Test
    void a_grant_beside_one_that_was_handed_over_and_found() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                released()
                        .by("b")
                        .foundOwn("waiter", 2, 1700, 1700, 6000)
                        .by("c")
                        .grant("next", 3, 6040, 100));
    }

    @Test
    void a_key_that_is_handed_to_the_second_in_the_queue() {
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                waits().by("c")
                        .line("second", 20)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("c")
                        .handed("second", 2, 30, 35));
    }

    @Test
    void a_hand_over_without_a_fence_of_its_own() {
        rejects(Rule.FENCES, "one fence was granted twice", released().by("b").handed("waiter", 1, 30, 35));
    }

    @Test
    void a_fence_that_is_missing_where_nobody_can_have_been_handed_the_key() {
        rejects(
                Rule.FENCES,
                "nothing explains a gap of 1",
                waits().by("b")
                        .release("waiter", 20, LEFT)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("c")
                        .grant("next", 3, 40, 100));
    }

    @Test
    void a_lapsed_grant_that_its_waiter_finds_alive() {
        rejects(Rule.OVER_IS_OVER, "a lease was revived", handed().by("b").foundOwn("waiter", 2, 6500, 6500, 6000));
    }

    @Test
    void a_lapsed_grant_that_its_waiter_never_received_and_finds_alive() {
        rejects(
                Rule.OVER_IS_OVER,
                "a lease was revived",
                released().by("b").found("waiter", 2, 30, 100).foundOwn("waiter", 2, 6500, 6500, 6000));
    }

    @Test
    void a_live_grant_that_its_waiter_does_not_find() {
        rejects(
                Rule.NOTHING_VANISHES,
                "a live lease was not found",
                handed().by("b").line("waiter", 100));
    }

    @Test
    void a_grant_whose_time_goes_back_when_it_is_found() {
        rejects(
                Rule.HAND_OVER,
                "the time of a grant went back",
                handed().by("b").foundOwn("waiter", 2, 29, 100, 6000));
    }

    @Test
    void a_grant_whose_time_goes_back_when_it_is_looked_up() {
        rejects(Rule.SAME_GRANT, "of a grant changed", handed().by("b").found("waiter", 2, 29, 100));
    }

    @Test
    void a_grant_that_nobody_uses_or_gives_back() {
        rejects(Rule.HAND_OVER, "was neither used nor released", handed().processEnded("b", 20_000));
    }

    @Test
    void a_lease_of_a_waiter_who_does_not_accept_it() {
        rejects(
                Rule.NOTHING_LEAKS,
                "without a grant",
                script().grant("holder", 1, 0, 1000)
                        .by("b")
                        .queue("waiter", 10)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("b")
                        .release("waiter", 40, OK));
    }

    /** One caller holds the key, and another waits for it. */
    private static HistoryScript waits() {
        return script().grant("holder", 1, 0, 1000).by("b").line("waiter", 10);
    }

    /** The holder has gone. */
    private static HistoryScript released() {
        return waits().by("a").release("holder", 30, OK);
    }

    private static HistoryScript handed() {
        return released().by("b").handed("waiter", 2, 30, 35);
    }
}
