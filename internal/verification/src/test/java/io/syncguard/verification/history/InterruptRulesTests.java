package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.BUSY;
import static io.syncguard.verification.history.HistoryEvent.Outcome.FAILED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.QUEUED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.accepts;
import static io.syncguard.verification.history.HistoryScript.held;
import static io.syncguard.verification.history.HistoryScript.rejects;
import static io.syncguard.verification.history.HistoryScript.script;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.Test;

/**
 * The checker rejects each history in which an interrupt has an effect that it must not have, and accepts those that
 * only look like it.
 */
class InterruptRulesTests {

    @Test
    void a_release_that_says_true_and_was_interrupted() {
        rejects(
                Rule.RELEASED_WHEN_ANSWERED,
                "was released before its lease was",
                script().undisturbed(0, 1000)
                        .grant("one", 1, 0, 1000)
                        .taking(10)
                        .releasedHandle("one", 10)
                        .taking(1)
                        .release("one", 12, UNKNOWN)
                        .release("one", 40, OK));
    }

    @Test
    void a_lease_that_is_in_the_store_after_it_was_given_back() {
        rejects(
                Rule.RELEASED_WHEN_ANSWERED,
                "is in the store after",
                script().undisturbed(0, 1000)
                        .grant("one", 1, 0, 1000)
                        .release("one", 10, OK)
                        .releasedHandle("one", 10)
                        .seen("one", 20));
    }

    @Test
    void a_thread_that_is_refused_for_its_own_leftover() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "the key was free",
                script().undisturbed(0, 1000)
                        .grant("one", 1, 0, 1000)
                        .release("one", 10, UNKNOWN)
                        .releasedHandle("one", 10)
                        .acquire("two", 20, 100, REFUSED)
                        .release("one", 30, OK));
    }

    @Test
    void an_interrupted_acquire_whose_queue_entry_stays() {
        rejects(
                Rule.INTERRUPTS,
                "left something behind",
                held().undisturbed(0, 5000)
                        .by("b")
                        .queue("waiter", 10)
                        .aborted("waiter", 20, OK)
                        .seen("waiter", 2030));
    }

    @Test
    void an_interrupted_acquire_that_ends_in_another_way() {
        rejects(
                Rule.INTERRUPTS,
                "neither as interrupted nor with the flag",
                held().by("b").queue("waiter", 10).aborted("waiter", 20, FAILED));
    }

    @Test
    void accepts_a_release_and_an_interrupted_acquire_that_leave_nothing() {
        accepts(held().undisturbed(0, 5000)
                .by("b")
                .acquire("waiter", 10, 100, QUEUED)
                .seen("waiter", 15)
                .aborted("waiter", 20, OK)
                .seen("waiter", 22)
                .release("waiter", 30, LEFT)
                .by("a")
                .release("holder", 40, OK)
                .releasedHandle("holder", 40));
    }

    @Test
    void accepts_a_release_that_is_sent_again_because_the_row_is_locked() {
        accepts(held().undisturbed(0, 1000)
                .release("holder", 10, BUSY)
                .releasedHandle("holder", 10)
                .seen("holder", 20)
                .release("holder", 30, OK));
    }

    @Test
    void accepts_a_release_that_fails_while_the_server_is_disturbed() {
        accepts(held().undisturbed(0, 5)
                .release("holder", 10, UNKNOWN)
                .releasedHandle("holder", 10)
                .seen("holder", 20)
                .release("holder", 30, OK));
    }
}
