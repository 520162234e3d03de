package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.accepts;
import static io.syncguard.verification.history.HistoryScript.held;
import static io.syncguard.verification.history.HistoryScript.script;
import static io.syncguard.verification.history.HistoryScript.twoWait;

import org.junit.jupiter.api.Test;

/**
 * The checker accepts histories of readers, writers and waiters that the contract allows, even if the order of arrival
 * is uncertain.
 */
class AcceptedQueuesTests {

    @Test
    void readers_beside_each_other_that_are_held_all_the_time() {
        accepts(script().reading()
                .grant("one", 1, 0, 1000)
                .by("b")
                .grant("two", 2, 10, 1000)
                .by("a")
                .held("one", 20, 900)
                .release("one", 30, OK)
                .by("b")
                .held("two", 40, 900)
                .found("two", 2, 10, 45)
                .release("two", 50, OK)
                .by("c")
                .writing()
                .grant("writer", 3, 60, 100));
    }

    @Test
    void a_queue_entry_that_is_lost_when_the_server_is_killed() {
        accepts(twoWait()
                .crashed(25, 35)
                .by("c")
                .grant("second", 2, 40, 100)
                .by("b")
                .release("first", 60, NOT_HELD));
    }

    @Test
    void a_refusal_by_an_entry_that_was_made_after_a_release_by_its_lock_id() {
        accepts(held().by("b")
                .taking(100)
                .line("waiter", 10)
                .taking(1)
                .by("c")
                .release("waiter", 50, NOT_HELD)
                .by("a")
                .release("holder", 108, OK)
                .by("c")
                .reading()
                .acquire("reader", 200, 100, REFUSED)
                .by("b")
                .release("waiter", 300, LEFT));
    }

    @Test
    void a_refusal_by_a_lease_whose_release_was_lost_when_the_server_was_killed() {
        accepts(held().release("holder", 10, OK).crashed(20, 100).by("b").acquire("try", 200, 100, REFUSED));
    }

    @Test
    void a_writer_that_waits_for_the_last_reader_and_readers_that_wait_for_the_writer() {
        accepts(script().reading()
                .grant("one", 1, 0, 1000)
                .grant("two", 2, 1, 1000)
                .by("b")
                .writing()
                .queue("writer", 10)
                .by("c")
                .reading()
                .acquire("try", 15, 100, REFUSED)
                .queue("three", 20)
                .queue("four", 25)
                .by("a")
                .release("one", 30, OK)
                .release("two", 40, OK)
                .by("b")
                .writing()
                .grant("writer", 3, 50, 100)
                .release("writer", 60, OK)
                .by("c")
                .reading()
                .grant("four", 4, 70, 100)
                .grant("three", 5, 80, 100));
    }

    @Test
    void a_new_reader_that_passes_a_waiting_reader() {
        accepts(held().by("b")
                .reading()
                .queue("waits", 10)
                .by("a")
                .release("holder", 20, OK)
                .by("c")
                .grant("new", 2, 30, 100)
                .by("b")
                .grant("waits", 3, 40, 100));
    }

    @Test
    void two_requests_that_crossed() {
        accepts(held().taking(5)
                .by("b")
                .queue("first", 10)
                .by("c")
                .queue("second", 12)
                .taking(1)
                .by("a")
                .release("holder", 30, OK)
                .by("c")
                .grant("second", 2, 40, 100)
                .release("second", 50, OK)
                .by("b")
                .grant("first", 3, 60, 100));
    }

    @Test
    void a_waiter_that_gave_up_before_the_next_was_granted() {
        accepts(twoWait().by("b").release("first", 35, LEFT).by("c").grant("second", 2, 40, 100));
    }

    @Test
    void a_waiter_that_was_refused_at_its_deadline_before_the_next_was_granted() {
        accepts(twoWait().by("b").acquire("first", 25, 100, REFUSED).by("c").grant("second", 2, 40, 100));
    }

    @Test
    void a_waiter_of_which_nobody_knows_whether_it_left() {
        accepts(twoWait().by("b").release("first", 35, UNKNOWN).by("c").grant("second", 2, 40, 100));
    }

    @Test
    void a_waiter_whose_last_acquire_request_has_no_answer() {
        accepts(twoWait()
                .by("b")
                .acquireWithoutAnswer("first", 35, 10)
                .processEnded("b", 36)
                .by("c")
                .grant("second", 3, 4000, 100));
    }

    @Test
    void a_waiter_that_died_and_whose_queue_entry_lapsed() {
        accepts(script().grant("holder", 1, 0, 20_000)
                .by("b")
                .queue("first", 10)
                .processEnded("b", 20)
                .by("c")
                .queue("second", 20)
                .renew("second", 4000)
                .by("a")
                .release("holder", 4500, OK)
                .by("c")
                .queue("second", 4600)
                .grant("second", 2, 5020, 100));
    }

    @Test
    void a_waiter_that_slept_too_long_and_came_again() {
        accepts(script().grant("holder", 1, 0, 20_000)
                .by("b")
                .queue("first", 10)
                .by("c")
                .queue("second", 20)
                .queue("second", 4000)
                .by("b")
                .renew("first", 4990)
                .queue("first", 12_000)
                .processEnded("b", 12_100)
                .by("c")
                .queue("second", 8000)
                .by("a")
                .release("holder", 12_500, OK)
                .by("c")
                .grant("second", 2, 12_600, 100));
    }

    @Test
    void a_refusal_by_the_queue_entry_of_a_process_that_was_killed() {
        accepts(held().by("b")
                .acquireWithoutAnswer("killed", 10, 100)
                .processEnded("b", 11)
                .by("a")
                .release("holder", 20, OK)
                .by("c")
                .acquire("try", 6000, 100, REFUSED));
    }

    @Test
    void a_reader_that_is_refused_because_a_writer_waits() {
        accepts(script().reading()
                .grant("reader", 1, 0, 1000)
                .by("b")
                .writing()
                .queue("writer", 10)
                .processEnded("b", 20)
                .by("c")
                .reading()
                .acquire("try", 20, 100, REFUSED));
    }

    @Test
    void a_queue_entry_that_another_client_gave_up_and_that_is_made_again() {
        accepts(held().by("b")
                .queue("first", 10)
                .by("c")
                .queue("second", 20)
                .by("other client")
                .release("first", 25, LEFT)
                .by("a")
                .release("holder", 30, OK)
                .by("b")
                .queue("first", 35)
                .by("c")
                .grant("second", 2, 40, 100)
                .release("second", 45, OK)
                .by("b")
                .grant("first", 3, 50, 100));
    }

    @Test
    void a_queue_entry_that_was_given_up_twice_in_doubt() {
        accepts(held().by("b")
                .queue("waiter", 10)
                .acquire("waiter", 20, 100, UNKNOWN)
                .release("waiter", 25, LEFT)
                .release("waiter", 50, NOT_HELD)
                .processEnded("b", 20_000));
    }
}
