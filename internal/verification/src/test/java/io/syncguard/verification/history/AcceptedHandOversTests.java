package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.FAILED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.accepts;
import static io.syncguard.verification.history.HistoryScript.script;

import org.junit.jupiter.api.Test;

/**
 * The checker accepts histories with hand-overs, and all events that may happen between a hand-over and its arrival.
 */
class AcceptedHandOversTests {

    @Test
    void a_waiter_that_is_handed_the_key_and_extends_it() {
        accepts(handed().by("b")
                .held("waiter", 40, 4960)
                .extend("waiter", 1700, 6000, OK)
                .held("waiter", 1710, 5980)
                .release("waiter", 1800, OK)
                .by("c")
                .grant("next", 3, 1810, 100)
                .counter(3, 2000));
    }

    @Test
    void a_waiter_whose_queue_entry_was_renewed_before_it_was_handed_the_key() {
        accepts(script().grant("holder", 1, 0, 20_000)
                .by("b")
                .line("waiter", 10)
                .renew("waiter", 1700)
                .renew("waiter", 3400)
                .by("a")
                .release("holder", 4000, OK)
                .by("b")
                .handed("waiter", 2, 4000, 4010)
                .held("waiter", 4020, 4370));
    }

    @Test
    void a_message_that_overtakes_the_answer() {
        accepts(script().grant("holder", 1, 0, 1000)
                .by("b")
                .taking(20)
                .line("waiter", 10)
                .taking(1)
                .by("a")
                .release("holder", 12, OK)
                .by("b")
                .handed("waiter", 2, 12, 15)
                .held("waiter", 31, 4970));
    }

    @Test
    void a_waiter_that_does_not_receive_it_and_finds_the_key_handed_over() {
        accepts(released()
                .by("b")
                .foundOwn("waiter", 2, 1700, 1700, 6000)
                .held("waiter", 1710, 5980)
                .found("waiter", 2, 1700, 1720)
                .release("waiter", 1800, OK));
    }

    @Test
    void a_lease_that_is_looked_up_before_its_waiter_finds_it() {
        accepts(released()
                .by("b")
                .found("waiter", 2, 30, 100)
                .foundOwn("waiter", 2, 1700, 1700, 6000)
                .held("waiter", 1710, 5980)
                .release("waiter", 1800, OK));
    }

    @Test
    void a_waiter_that_gets_no_answer_and_finds_its_lease_by_the_next_request() {
        accepts(released()
                .by("b")
                .acquire("waiter", 1000, 6000, UNKNOWN)
                .foundOwn("waiter", 2, 1700, 1700, 6000)
                .held("waiter", 1710, 5980)
                .release("waiter", 1800, OK));
    }

    @Test
    void a_grant_whose_time_a_later_request_of_its_waiter_moved() {
        accepts(handed().by("b").found("waiter", 2, 40, 100).release("waiter", 110, OK));
    }

    @Test
    void a_waiter_that_receives_it_too_late_and_finds_the_key_handed_over() {
        accepts(handed().by("b").foundOwn("waiter", 2, 5200, 5200, 6000).held("waiter", 5210, 5980));
    }

    @Test
    void a_waiter_that_receives_it_too_late_and_gets_no_answer_when_it_asks_for_it() {
        accepts(handed().by("b").acquire("waiter", 5200, 6000, UNKNOWN).release("waiter", 5210, OK));
    }

    @Test
    void a_waiter_that_comes_too_late_for_it_and_queues_again() {
        accepts(secondWaits()
                .by("b")
                .line("waiter", 6500)
                .handed("waiter", 2, 30, 6490)
                .by("c")
                .release("second", 6600, OK)
                .by("b")
                .handed("waiter", 4, 6600, 6610)
                .held("waiter", 6620, 4870)
                .counter(4, 7000));
    }

    @Test
    void a_waiter_that_comes_too_late_for_what_it_never_received_and_is_refused() {
        accepts(secondWaits().by("b").acquire("waiter", 6500, 6000, REFUSED).counter(3, 7000));
    }

    @Test
    void a_waiter_that_was_killed_and_handed_the_key() {
        accepts(secondWaits().processEnded("b", 20).counter(3, 7000));
    }

    @Test
    void a_waiter_that_gives_up_and_gives_back_what_it_was_handed() {
        accepts(released()
                .by("b")
                .release("waiter", 31, OK)
                .by("c")
                .grant("next", 3, 40, 100)
                .counter(3, 50));
    }

    @Test
    void a_waiter_that_has_left_and_whose_grant_the_store_gives_back() {
        accepts(script().grant("holder", 1, 0, 20_000)
                .by("b")
                .acquire("waiter", 10, 30_000, UNKNOWN)
                .by("a")
                .release("holder", 30, OK)
                .by("b")
                .handed("waiter", 2, 30, 31)
                .release("waiter", 40, NOT_HELD)
                .by("c")
                .grant("next", 3, 50, 100)
                .counter(3, 60));
    }

    @Test
    void a_waiter_of_which_nobody_knows_what_it_gave_back() {
        accepts(released().by("b").release("waiter", 31, UNKNOWN).by("c").grant("next", 3, 40, 100));
    }

    @Test
    void a_grant_that_another_client_releases_before_its_holder_receives_it() {
        accepts(released()
                .by("other client")
                .release("waiter", 33, OK)
                .by("b")
                .handed("waiter", 2, 30, 34)
                .held("waiter", 35, 4960)
                .by("c")
                .grant("next", 3, 40, 100)
                .by("b")
                .held("waiter", 45, 4950)
                .release("waiter", 50, NOT_HELD));
    }

    @Test
    void a_grant_that_was_ended_before_its_holder_receives_it() {
        accepts(released()
                .by("people")
                .ended("waiter", 33)
                .by("c")
                .grant("next", 3, 40, 100)
                .by("b")
                .handed("waiter", 2, 30, 45)
                .held("waiter", 50, 4950));
    }

    @Test
    void a_grant_that_was_ended_while_its_holder_asked_for_it_again() {
        accepts(released()
                .by("people")
                .ended("waiter", 33)
                .by("c")
                .grant("next", 3, 40, 1000)
                .by("b")
                .taking(50)
                .line("waiter", 32)
                .taking(1)
                .by("c")
                .release("next", 100, OK)
                .by("b")
                .handed("waiter", 4, 100, 105)
                .release("waiter", 110, OK)
                .counter(4, 200));
    }

    @Test
    void a_second_grant_that_was_ended_while_its_holder_was_still_asking() {
        accepts(secondWaits()
                .by("b")
                .taking(30)
                .line("waiter", 6490)
                .taking(1)
                .by("c")
                .release("second", 6495, OK)
                .by("b")
                .handed("waiter", 4, 6495, 6500)
                .by("people")
                .ended("waiter", 6505)
                .by("c")
                .grant("next", 5, 6510, 100)
                .by("b")
                .held("waiter", 6530, 4950));
    }

    @Test
    void a_key_that_the_last_of_two_readers_hands_over() {
        accepts(script().reading()
                .grant("one", 1, 0, 1000)
                .grant("two", 2, 1, 1000)
                .by("b")
                .writing()
                .line("waiter", 10)
                .by("a")
                .release("two", 20, OK)
                .release("one", 30, OK)
                .by("b")
                .handed("waiter", 3, 30, 35)
                .held("waiter", 40, 4960));
    }

    @Test
    void a_key_that_was_handed_over_by_the_first_holder_without_an_answer() {
        accepts(script().acquire("holder", 0, 1000, UNKNOWN)
                .by("b")
                .line("waiter", 10)
                .by("a")
                .release("holder", 30, UNKNOWN)
                .by("b")
                .handed("waiter", 2, 30, 35)
                .held("waiter", 40, 4960));
    }

    @Test
    void a_key_that_was_handed_over_by_the_first_reader_without_an_answer() {
        accepts(script().reading()
                .acquire("one", 0, 1000, UNKNOWN)
                .grant("two", 2, 2, 1000)
                .by("b")
                .writing()
                .line("waiter", 10)
                .by("people")
                .ended("two", 20)
                .by("a")
                .release("one", 30, UNKNOWN)
                .by("b")
                .handed("waiter", 3, 30, 35)
                .held("waiter", 40, 4960));
    }

    @Test
    void a_waiter_that_gets_no_answer_when_it_asks_for_what_it_never_received() {
        accepts(released()
                .by("b")
                .acquire("waiter", 1700, 6000, UNKNOWN)
                .release("waiter", 1710, OK)
                .counter(3, 2000));
    }

    @Test
    void a_look_at_the_next_grant_of_a_waiter_whose_first_one_was_ended() {
        accepts(released()
                .by("people")
                .ended("waiter", 33)
                .by("b")
                .taking(10)
                .grant("waiter", 3, 1700, 6000)
                .taking(1)
                .by("c")
                .found("waiter", 3, 1700, 1705));
    }

    @Test
    void a_grant_that_was_ended_when_its_holder_had_just_asked_for_it_again() {
        accepts(released()
                .by("people")
                .ended("waiter", 33)
                .by("c")
                .grant("next", 3, 33, 1000)
                .by("b")
                .line("waiter", 32)
                .by("c")
                .release("next", 100, OK)
                .by("b")
                .handed("waiter", 4, 100, 105)
                .release("waiter", 110, OK)
                .counter(4, 200));
    }

    /** One caller holds the key, another waits for it, and the holder releases. */
    private static HistoryScript released() {
        return script().grant("holder", 1, 0, 1000)
                .by("b")
                .line("waiter", 10)
                .by("a")
                .release("holder", 30, OK);
    }

    private static HistoryScript handed() {
        return released().by("b").handed("waiter", 2, 30, 35);
    }

    /**
     * The waiter is handed the key with fence 2 and does nothing; the second waiter gets it when that lease has ended.
     */
    private static HistoryScript secondWaits() {
        return script().grant("holder", 1, 0, 20_000)
                .by("b")
                .line("waiter", 10)
                .by("c")
                .line("second", 20)
                .renew("second", 4000)
                .by("a")
                .release("holder", 30, OK)
                .by("c")
                .line("second", 6040)
                .grant("second", 3, 6050, 6000);
    }

    @Test
    void an_acquire_request_that_was_never_sent_and_the_release_of_what_was_handed_over_before_it() {
        accepts(script().grant("holder", 1, 0, 6000)
                .by("b")
                .line("waiter", 10)
                .by("a")
                .release("holder", 30, OK)
                .by("b")
                .handed("waiter", 2, 30, 32)
                .acquire("waiter", 33, 6000, FAILED)
                .on("syncguard-release")
                .release("waiter", 40, OK)
                .by("c")
                .grant("next", 3, 50, 100));
    }
}
