package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.held;
import static io.syncguard.verification.history.HistoryScript.rejects;
import static io.syncguard.verification.history.HistoryScript.script;
import static io.syncguard.verification.history.HistoryScript.twoWait;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.Test;

/**
 * The checker rejects each history with a grant out of turn, a grant beside a conflicting lease, or a wait without a
 * reason.
 */
class QueueRulesTests {

    @Test
    void a_reader_that_passes_a_waiting_writer() {
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                script().reading()
                        .grant("reader", 1, 0, 1000)
                        .by("b")
                        .writing()
                        .queue("writer", 10)
                        .by("c")
                        .reading()
                        .grant("later", 2, 20, 100));
    }

    @Test
    void a_try_that_does_not_wait_and_passes_a_waiter() {
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                held().by("b")
                        .queue("waiter", 10)
                        .by("a")
                        .release("holder", 20, OK)
                        .by("c")
                        .grant("try", 2, 30, 100));
    }

    @Test
    void a_writer_that_is_granted_before_one_who_came_first() {
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                twoWait().by("c").grant("second", 2, 40, 100));
    }

    @Test
    void a_refusal_by_a_lease_that_was_released_long_before_the_server_was_killed() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "the key was free",
                script().grant("holder", 1, 0, 5000)
                        .release("holder", 10, OK)
                        .crashed(2000, 2100)
                        .by("b")
                        .acquire("try", 2200, 100, REFUSED));
    }

    @Test
    void a_writer_that_is_granted_before_one_who_came_first_after_the_server_was_killed() {
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                twoWait().crashed(2, 5).by("c").grant("second", 2, 40, 100));
    }

    @Test
    void a_writer_that_is_granted_before_one_who_came_first_and_is_granted_later() {
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                twoWait()
                        .by("c")
                        .grant("second", 2, 40, 100)
                        .release("second", 50, OK)
                        .by("b")
                        .grant("first", 3, 60, 100));
    }

    @Test
    void a_waiting_reader_that_is_granted_before_a_writer_who_came_first() {
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                held().by("b")
                        .queue("writer", 10)
                        .by("c")
                        .reading()
                        .queue("reader", 20)
                        .by("a")
                        .release("holder", 30, OK)
                        .by("c")
                        .grant("reader", 2, 40, 100));
    }

    @Test
    void a_waiter_that_is_passed_long_after_it_came_although_its_queue_entry_was_renewed() {
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                script().grant("holder", 1, 0, 20_000)
                        .by("b")
                        .queue("first", 10)
                        .renew("first", 4000)
                        .queue("first", 8900)
                        .by("c")
                        .queue("second", 20)
                        .by("a")
                        .release("holder", 8950, OK)
                        .by("c")
                        .grant("second", 2, 8960, 100));
    }

    @Test
    void a_writer_beside_a_reader() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                script().reading().grant("reader", 1, 0, 1000).by("b").writing().grant("writer", 2, 10, 100));
    }

    @Test
    void a_reader_beside_a_writer() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                held().by("b").reading().grant("reader", 2, 10, 100));
    }

    @Test
    void a_writer_beside_the_first_of_two_readers_of_whom_the_second_left() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                script().reading()
                        .grant("one", 1, 0, 1000)
                        .grant("two", 2, 5, 1000)
                        .release("two", 10, OK)
                        .by("b")
                        .writing()
                        .grant("writer", 3, 20, 100));
    }

    @Test
    void a_reader_beside_a_writer_with_other_readers_in_between() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                held().by("b")
                        .reading()
                        .grant("one", 2, 10, 100)
                        .release("one", 15, OK)
                        .grant("two", 3, 20, 100));
    }

    @Test
    void a_reader_that_is_held_after_a_writer_was_granted() {
        rejects(
                Rule.DEADLINE,
                "held after another holder was granted the key",
                script().reading()
                        .grant("reader", 1, 0, 1000)
                        .by("b")
                        .writing()
                        .grant("writer", 2, 500, 1000)
                        .by("a")
                        .held("reader", 510, 400));
    }

    @Test
    void a_fence_that_goes_down_from_a_reader_to_a_writer() {
        rejects(
                Rule.FENCES,
                "a later grant has a smaller fence",
                script().reading()
                        .grant("reader", 2, 0, 100)
                        .release("reader", 10, OK)
                        .writing()
                        .grant("writer", 1, 20, 100));
    }

    @Test
    void a_fence_that_goes_down_to_a_reader_all_of_whose_requests_came_later() {
        rejects(
                Rule.FENCES,
                "a later grant has a smaller fence",
                script().reading()
                        .grant("one", 2, 0, 1000)
                        .by("b")
                        .acquire("two", 10, 1000, UNKNOWN)
                        .grant("two", 1, 20, 1000));
    }

    @Test
    void a_fence_of_two_readers() {
        rejects(
                Rule.FENCES,
                "one fence was granted twice",
                script().reading().grant("one", 1, 0, 100).by("b").grant("two", 1, 10, 100));
    }

    @Test
    void a_reader_that_is_refused_beside_readers() {
        rejects(
                Rule.NEIGHBOURS,
                "only readers conflicted with a reader",
                script().reading().grant("one", 1, 0, 1000).by("b").acquire("two", 10, 100, REFUSED));
    }

    @Test
    void a_reader_that_has_to_wait_behind_a_waiting_reader() {
        rejects(
                Rule.NEIGHBOURS,
                "only readers conflicted with a reader",
                held().by("b")
                        .reading()
                        .queue("one", 10)
                        .by("a")
                        .release("holder", 20, OK)
                        .by("c")
                        .queue("two", 30));
    }

    @Test
    void a_wait_for_a_free_key() {
        rejects(Rule.JUSTIFIED_REFUSAL, "the key was free", script().queue("writer", 0));
    }

    @Test
    void a_wait_for_a_waiter_who_came_later() {
        rejects(Rule.JUSTIFIED_REFUSAL, "the key was free", twoWait().by("b").queue("first", 40));
    }

    @Test
    void a_wait_for_a_waiter_who_left() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "the key was free",
                twoWait().by("b").release("first", 40, LEFT).by("c").queue("second", 50));
    }

    @Test
    void a_queue_entry_that_is_never_given_up() {
        rejects(
                Rule.NOTHING_LEAKS,
                "a queue entry was never deleted",
                held().by("b").queue("waiter", 10).processEnded("b", 20_000));
    }

    @Test
    void a_live_lease_that_is_taken_for_a_queue_entry() {
        rejects(Rule.NOTHING_VANISHES, "a live lease was not found", held().release("holder", 10, LEFT));
    }

    @Test
    void a_grant_that_changes_its_mode() {
        rejects(Rule.SAME_GRANT, "of a grant changed", held().reading().found("holder", 1, 0, 10));
    }

    @Test
    void a_pinned_reader_that_a_writer_passes() {
        rejects(
                Rule.PINNED_STAYS,
                "a pinned lease was taken over",
                script().reading()
                        .grant("reader", 1, 0, 100)
                        .pinned("reader", 1000, 1300)
                        .by("b")
                        .writing()
                        .grant("writer", 2, 1150, 100));
    }
}
