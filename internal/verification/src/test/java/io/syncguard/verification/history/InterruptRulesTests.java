package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.BUSY;
import static io.syncguard.verification.history.HistoryEvent.Outcome.FAILED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.QUEUED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.held;
import static io.syncguard.verification.history.HistoryScript.script;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.TestFactory;

/**
 * The checker rejects each history in which an interrupt has an effect that it must not have, and accepts those that
 * only look like it.
 */
class InterruptRulesTests {

    @TestFactory
    HistoryTable histories() {
        return new HistoryTable()
                .rejected(Rule.RELEASED_WHEN_ANSWERED, "was released before its lease was")
                .row(
                        "a release that says true and was interrupted",
                        script().undisturbed(0, 1000)
                                .grant("one", 1, 0, 1000)
                                .taking(10)
                                .releasedHandle("one", 10)
                                .taking(1)
                                .release("one", 12, UNKNOWN)
                                .release("one", 40, OK))
                .rejected(Rule.RELEASED_WHEN_ANSWERED, "is in the store after")
                .row(
                        "a lease that is in the store after it was given back",
                        script().undisturbed(0, 1000)
                                .grant("one", 1, 0, 1000)
                                .release("one", 10, OK)
                                .releasedHandle("one", 10)
                                .seen("one", 20))
                .rejected(Rule.JUSTIFIED_REFUSAL, "the key was free")
                .row(
                        "a thread that is refused for its own leftover",
                        script().undisturbed(0, 1000)
                                .grant("one", 1, 0, 1000)
                                .release("one", 10, UNKNOWN)
                                .releasedHandle("one", 10)
                                .acquire("two", 20, 100, REFUSED)
                                .release("one", 30, OK))
                .rejected(Rule.INTERRUPTS, "left something behind")
                .row(
                        "an interrupted acquire whose queue entry stays",
                        held().undisturbed(0, 5000)
                                .queue("b/waiter", 10)
                                .aborted("waiter", 20, OK)
                                .seen("waiter", 2030))
                .rejected(Rule.INTERRUPTS, "neither as interrupted nor with the flag")
                .row(
                        "an interrupted acquire that ends in another way",
                        held().queue("b/waiter", 10).aborted("waiter", 20, FAILED))
                .accepted()
                .row(
                        "accepts a release and an interrupted acquire that leave nothing",
                        held().undisturbed(0, 5000)
                                .acquire("b/waiter", 10, 100, QUEUED)
                                .seen("waiter", 15)
                                .aborted("waiter", 20, OK)
                                .seen("waiter", 22)
                                .release("waiter", 30, LEFT)
                                .release("holder", 40, OK)
                                .releasedHandle("holder", 40))
                .row(
                        "accepts a release that is sent again because the row is locked",
                        held().undisturbed(0, 1000)
                                .release("holder", 10, BUSY)
                                .releasedHandle("holder", 10)
                                .seen("holder", 20)
                                .release("holder", 30, OK))
                .row(
                        "accepts a release that fails while the server is disturbed",
                        held().undisturbed(0, 5)
                                .release("holder", 10, UNKNOWN)
                                .releasedHandle("holder", 10)
                                .seen("holder", 20)
                                .release("holder", 30, OK));
    }
}
