package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.script;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.TestFactory;

/**
 * The checker rejects each history in which one lease breaks the contract, by the rule for that, and names the events.
 */
class LeaseRulesTests {

    @TestFactory
    HistoryTable histories() {
        return new HistoryTable()
                .rejected(Rule.DEADLINE, "held after another holder was granted the key")
                .row(
                        "a handle that is held after its successor was granted",
                        script().grant("one", 1, 0, 1000)
                                .grant("b/two", 2, 500, 1000)
                                .held("one", 510, 400))
                .rejected(Rule.DEADLINE, "longer than its ttl after the last confirmed request was sent")
                .row(
                        "a deadline that counts from the reply",
                        script().taking(20).grant("one", 1, 0, 100).taking(1).held("one", 30, 90))
                .rejected(Rule.DEADLINE, "longer than its ttl")
                .row(
                        "a deadline that outlives an extension that shortened",
                        script().grant("one", 1, 0, 1000)
                                .extend("one", 10, 100, OK)
                                .held("one", 20, 500))
                .row(
                        "a deadline that an extension of unknown outcome moved on",
                        script().grant("one", 1, 0, 100)
                                .extend("one", 50, 1000, UNKNOWN)
                                .held("one", 60, 900))
                .rejected(Rule.DEADLINE, "held after it was released")
                .row(
                        "a handle that is held after it was given back",
                        script().grant("one", 1, 0, 100)
                                .releasedHandle("one", 10)
                                .release("one", 10, OK)
                                .held("one", 12, 50))
                .rejected(Rule.DEADLINE, "held after it was lost")
                .row(
                        "a handle that is held after it was lost",
                        script().grant("one", 1, 0, 100).lost(1, 10).held("one", 12, 50))
                .rejected(Rule.RELEASED_ONCE, "one lease was released 2 times")
                .row(
                        "a lease that was released twice",
                        script().grant("one", 1, 0, 100).release("one", 10, OK).release("one", 10, OK))
                .row(
                        "a handle that was given back twice",
                        script().grant("one", 1, 0, 100)
                                .releasedHandle("one", 10)
                                .releasedHandle("one", 20))
                .rejected(Rule.RELEASED_ONCE, "a lease lives after its release")
                .row(
                        "a lease that is found after its release",
                        script().grant("one", 1, 0, 100).release("one", 10, OK).found("one", 1, 0, 20))
                .rejected(Rule.OVER_IS_OVER, "a lease lives after its release")
                .row(
                        "an extension after the release",
                        script().grant("one", 1, 0, 100).release("one", 10, OK).extend("one", 20, 100, OK))
                .rejected(Rule.OVER_IS_OVER, "after a larger fence was granted")
                .row(
                        "a stale holder that releases after a takeover",
                        script().grant("one", 1, 0, 100)
                                .grant("b/two", 2, 1100, 1000)
                                .release("one", 1110, OK))
                .row(
                        "a heartbeat of a stale holder that extends after a takeover",
                        script().grant("one", 1, 0, 100)
                                .grant("b/two", 2, 1100, 1000)
                                .extend("one", 1110, 100, OK))
                .rejected(Rule.OVER_IS_OVER, "a lease was revived 1300 ms after its end")
                .row(
                        "an extension that revives a lapsed lease",
                        script().grant("one", 1, 0, 100).extend("one", 1400, 100, OK))
                .rejected(Rule.OVER_IS_OVER, "a lease lives after it had lapsed")
                .row(
                        "a release of a lapsed lease",
                        script().grant("one", 1, 0, 100).release("one", 1150, OK))
                .row(
                        "a lapsed lease that is found",
                        script().grant("one", 1, 0, 100).found("one", 1, 0, 1150))
                .rejected(Rule.OVER_IS_OVER, "a lease lives after it was ended")
                .row(
                        "an extension of a lease that was ended in the table",
                        script().grant("one", 1, 0, 1000).ended("one", 10).extend("one", 20, 100, OK))
                .rejected(Rule.SAME_GRANT, "fence or time of a grant changed")
                .row(
                        "an extension that changes the fence",
                        script().grant("one", 1, 0, 100)
                                .extend("one", 10, 100, OK)
                                .found("one", 2, 0, 20))
                .row(
                        "an extension that changes the time of the grant",
                        script().grant("one", 1, 0, 100)
                                .extend("one", 10, 100, OK)
                                .found("one", 1, 10, 20))
                .rejected(Rule.NOTHING_VANISHES, "a live lease was not found")
                .row(
                        "a live lease that is not found by its id",
                        script().grant("one", 1, 0, 100).missed("one", 50))
                .row(
                        "a live lease that is not found by its key",
                        script().grant("one", 1, 0, 100).missed("", 50))
                .row(
                        "a live lease that cannot be released",
                        script().grant("one", 1, 0, 100).release("one", 1050, NOT_HELD))
                .row(
                        "a live lease that cannot be extended",
                        script().grant("one", 1, 0, 100).extend("one", 50, 1000, NOT_HELD))
                .rejected(Rule.NOTHING_LEAKS, "without a grant")
                .row(
                        "a lease that nobody was granted",
                        script().grant("one", 1, 0, 100)
                                .acquire("two", 10, 100, REFUSED)
                                .release("two", 20, OK))
                .rejected(Rule.NOTHING_LEAKS, "was not released by its id")
                .row(
                        "an acquire of unknown outcome that nobody releases",
                        script().acquire("one", 0, 100, UNKNOWN).processEnded("a", 10_000))
                .rejected(Rule.LOSS_REPORTED_ONCE, "one loss was reported 2 times")
                .row(
                        "a loss that is reported twice",
                        script().grant("one", 1, 0, 100).lost(1, 100).lost(1, 110))
                .rejected(Rule.LOSS_REPORTED_ONCE, "a loss was reported of a lease whose handle was released")
                .row(
                        "a loss of a lease that was given back",
                        script().grant("one", 1, 0, 100)
                                .releasedHandle("one", 50)
                                .lost(1, 100))
                .rejected(Rule.LOSS_REPORTED_ONCE, "a loss was never reported")
                .row(
                        "a loss that is not reported",
                        script().grant("one", 1, 0, 100).sawLoss("one", 110).processEnded("a", 10_000));
    }
}
