package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.FAILED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.QUEUED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.script;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.TestFactory;

/**
 * The checker rejects each history with a hand-over to the wrong waiter or at the wrong time, or with a deadline that
 * is too late. It accepts hand-overs, and all events that may happen between a hand-over and its arrival.
 */
class HandOverRulesTests {

    @TestFactory
    HistoryTable rejected() {
        return new HistoryTable()
                .rejected(Rule.DEADLINE, "longer than its ttl after the last confirmed request was sent")
                .row("a deadline that counts from the message", handed().held("waiter", 40, 4990))
                .rejected(Rule.DEADLINE, "longer than its ttl")
                .row("a deadline as if the first lease were a whole ttl", handed().held("waiter", 40, 5960))
                .row(
                        "a message that is accepted although it is older than the queue entry",
                        handed().ended("people/waiter", 40)
                                .grant("c/next", 3, 50, 10_000)
                                .line("waiter", 60)
                                .held("waiter", 70, 4980))
                .rejected(Rule.DEADLINE, "held after another holder was granted the key")
                .row(
                        "a handle that is held after the key was handed to another waiter",
                        handed().held("holder", 40, 900))
                .rejected(Rule.HAND_OVER, "confirmed by a request that was sent after the hand-over")
                .row(
                        "a queue entry that is confirmed after it became a grant",
                        released().renew("waiter", 60).handed("waiter", 2, 30, 70))
                .rejected(Rule.HAND_OVER, "to a caller without a queue entry")
                .row(
                        "a key for a caller who does not wait",
                        script().grant("holder", 1, 0, 1000)
                                .release("holder", 30, OK)
                                .handed("b/waiter", 2, 30, 35))
                .rejected(Rule.HAND_OVER, "to a waiter that had left")
                .row(
                        "a key for a waiter who left",
                        waits().release("waiter", 20, LEFT)
                                .release("holder", 30, OK)
                                .handed("waiter", 2, 30, 35))
                .rejected(Rule.HAND_OVER, "to a lapsed queue entry")
                .row(
                        "a key for a waiter whose queue entry had lapsed",
                        script().grant("holder", 1, 0, 20_000)
                                .line("b/waiter", 10)
                                .renew("waiter", 1000)
                                .release("holder", 6100, OK)
                                .handed("waiter", 2, 6100, 6110))
                .rejected(Rule.HAND_OVER, "to a waiter that does not accept it")
                .row(
                        "a key for a reader",
                        script().grant("holder", 1, 0, 1000)
                                .reading()
                                .line("b/waiter", 10)
                                .release("holder", 30, OK)
                                .handed("waiter", 2, 30, 35))
                .row(
                        "a key for a waiter whose ttl is shorter than a first lease",
                        script().grant("holder", 1, 0, 1000)
                                .acquire("b/waiter", 10, 4999, QUEUED)
                                .release("holder", 30, OK)
                                .handed("waiter", 2, 30, 35))
                .rejected(Rule.HAND_OVER, "a first lease is 6000 ms long")
                .row("a first lease as long as the ttl", released().handed("waiter", 2, 30, 6000, 35))
                .rejected(Rule.HAND_OVER, "handed over without a release")
                .row(
                        "a key that nobody released",
                        waits().ended("people/holder", 20).handed("waiter", 2, 30, 35))
                .row("a key that nobody had", script().line("b/waiter", 10).handed("waiter", 1, 30, 35))
                .rejected(Rule.HAND_OVER, "the time of a grant went back")
                .row("a grant whose time goes back when it is found", handed().foundOwn("waiter", 2, 29, 100, 6000))
                .rejected(Rule.HAND_OVER, "was neither used nor released")
                .row("a grant that nobody uses or gives back", handed().processEnded("b", 20_000))
                .rejected(Rule.ONE_LIVE_GRANT, "before the lease before it had lapsed")
                .row("a key that is handed over beside its holder", waits().handed("waiter", 2, 30, 35))
                .row(
                        "a key that is handed over beside a reader",
                        script().reading()
                                .grant("one", 1, 0, 1000)
                                .grant("two", 2, 1, 1000)
                                .writing()
                                .line("b/waiter", 10)
                                .release("two", 20, OK)
                                .handed("waiter", 3, 20, 25))
                .row("a grant beside one that was handed over", handed().grant("c/next", 3, 100, 100))
                .row(
                        "a grant beside one that was handed over and found",
                        released().foundOwn("waiter", 2, 1700, 1700, 6000).grant("c/next", 3, 6040, 100))
                .rejected(Rule.ORDER_OF_ARRIVAL, "a later waiter was granted first")
                .row(
                        "a key that is handed to the second in the queue",
                        waits().line("c/second", 20).release("holder", 30, OK).handed("second", 2, 30, 35))
                .rejected(Rule.FENCES, "one fence was granted twice")
                .row("a hand over without a fence of its own", released().handed("waiter", 1, 30, 35))
                .rejected(Rule.FENCES, "nothing explains a gap of 1")
                .row(
                        "a fence that is missing where nobody can have been handed the key",
                        waits().release("waiter", 20, LEFT)
                                .release("holder", 30, OK)
                                .grant("c/next", 3, 40, 100))
                .rejected(Rule.OVER_IS_OVER, "a lease was revived")
                .row("a lapsed grant that its waiter finds alive", handed().foundOwn("waiter", 2, 6500, 6500, 6000))
                .row(
                        "a lapsed grant that its waiter never received and finds alive",
                        released().found("waiter", 2, 30, 100).foundOwn("waiter", 2, 6500, 6500, 6000))
                .rejected(Rule.NOTHING_VANISHES, "a live lease was not found")
                .row("a live grant that its waiter does not find", handed().line("waiter", 100))
                .rejected(Rule.SAME_GRANT, "of a grant changed")
                .row("a grant whose time goes back when it is looked up", handed().found("waiter", 2, 29, 100))
                .rejected(Rule.NOTHING_LEAKS, "without a grant")
                .row(
                        "a lease of a waiter who does not accept it",
                        script().grant("holder", 1, 0, 1000)
                                .queue("b/waiter", 10)
                                .release("holder", 30, OK)
                                .release("waiter", 40, OK));
    }

    @TestFactory
    HistoryTable accepted() {
        return new HistoryTable()
                .accepted()
                .row(
                        "a waiter that is handed the key and extends it",
                        handed().held("waiter", 40, 4960)
                                .extend("waiter", 1700, 6000, OK)
                                .held("waiter", 1710, 5980)
                                .release("waiter", 1800, OK)
                                .grant("c/next", 3, 1810, 100)
                                .counter(3, 2000))
                .row(
                        "a waiter whose queue entry was renewed before it was handed the key",
                        script().grant("holder", 1, 0, 20_000)
                                .line("b/waiter", 10)
                                .renew("waiter", 1700)
                                .renew("waiter", 3400)
                                .release("holder", 4000, OK)
                                .handed("waiter", 2, 4000, 4010)
                                .held("waiter", 4020, 4370))
                .row(
                        "a message that overtakes the answer",
                        script().grant("holder", 1, 0, 1000)
                                .taking(20)
                                .line("b/waiter", 10)
                                .taking(1)
                                .release("holder", 12, OK)
                                .handed("waiter", 2, 12, 15)
                                .held("waiter", 31, 4970))
                .row(
                        "a waiter that does not receive it and finds the key handed over",
                        released()
                                .foundOwn("waiter", 2, 1700, 1700, 6000)
                                .held("waiter", 1710, 5980)
                                .found("waiter", 2, 1700, 1720)
                                .release("waiter", 1800, OK))
                .row(
                        "a lease that is looked up before its waiter finds it",
                        released()
                                .found("waiter", 2, 30, 100)
                                .foundOwn("waiter", 2, 1700, 1700, 6000)
                                .held("waiter", 1710, 5980)
                                .release("waiter", 1800, OK))
                .row(
                        "a waiter that gets no answer and finds its lease by the next request",
                        released()
                                .acquire("waiter", 1000, 6000, UNKNOWN)
                                .foundOwn("waiter", 2, 1700, 1700, 6000)
                                .held("waiter", 1710, 5980)
                                .release("waiter", 1800, OK))
                .row(
                        "a grant whose time a later request of its waiter moved",
                        handed().found("waiter", 2, 40, 100).release("waiter", 110, OK))
                .row(
                        "a waiter that receives it too late and finds the key handed over",
                        handed().foundOwn("waiter", 2, 5200, 5200, 6000).held("waiter", 5210, 5980))
                .row(
                        "a waiter that receives it too late and gets no answer when it asks for it",
                        handed().acquire("waiter", 5200, 6000, UNKNOWN).release("waiter", 5210, OK))
                .row(
                        "a waiter that comes too late for it and queues again",
                        secondWaits()
                                .line("waiter", 6500)
                                .handed("waiter", 2, 30, 6490)
                                .release("second", 6600, OK)
                                .handed("waiter", 4, 6600, 6610)
                                .held("waiter", 6620, 4870)
                                .counter(4, 7000))
                .row(
                        "a waiter that comes too late for what it never received and is refused",
                        secondWaits().acquire("waiter", 6500, 6000, REFUSED).counter(3, 7000))
                .row(
                        "a waiter that was killed and handed the key",
                        secondWaits().processEnded("b", 20).counter(3, 7000))
                .row(
                        "a waiter that gives up and gives back what it was handed",
                        released()
                                .release("waiter", 31, OK)
                                .grant("c/next", 3, 40, 100)
                                .counter(3, 50))
                .row(
                        "a waiter that has left and whose grant the store gives back",
                        script().grant("holder", 1, 0, 20_000)
                                .acquire("b/waiter", 10, 30_000, UNKNOWN)
                                .release("holder", 30, OK)
                                .handed("waiter", 2, 30, 31)
                                .release("waiter", 40, NOT_HELD)
                                .grant("c/next", 3, 50, 100)
                                .counter(3, 60))
                .row(
                        "a waiter of which nobody knows what it gave back",
                        released().release("waiter", 31, UNKNOWN).grant("c/next", 3, 40, 100))
                .row(
                        "a grant that another client releases before its holder receives it",
                        released()
                                .release("other client/waiter", 33, OK)
                                .handed("waiter", 2, 30, 34)
                                .held("waiter", 35, 4960)
                                .grant("c/next", 3, 40, 100)
                                .held("waiter", 45, 4950)
                                .release("waiter", 50, NOT_HELD))
                .row(
                        "a grant that was ended before its holder receives it",
                        released()
                                .ended("people/waiter", 33)
                                .grant("c/next", 3, 40, 100)
                                .handed("waiter", 2, 30, 45)
                                .held("waiter", 50, 4950))
                .row(
                        "a grant that was ended while its holder asked for it again",
                        released()
                                .ended("people/waiter", 33)
                                .grant("c/next", 3, 40, 1000)
                                .taking(50)
                                .line("waiter", 32)
                                .taking(1)
                                .release("next", 100, OK)
                                .handed("waiter", 4, 100, 105)
                                .release("waiter", 110, OK)
                                .counter(4, 200))
                .row(
                        "a second grant that was ended while its holder was still asking",
                        secondWaits()
                                .taking(30)
                                .line("waiter", 6490)
                                .taking(1)
                                .release("second", 6495, OK)
                                .handed("waiter", 4, 6495, 6500)
                                .ended("people/waiter", 6505)
                                .grant("c/next", 5, 6510, 100)
                                .held("waiter", 6530, 4950))
                .row(
                        "a key that the last of two readers hands over",
                        script().reading()
                                .grant("one", 1, 0, 1000)
                                .grant("two", 2, 1, 1000)
                                .writing()
                                .line("b/waiter", 10)
                                .release("two", 20, OK)
                                .release("one", 30, OK)
                                .handed("waiter", 3, 30, 35)
                                .held("waiter", 40, 4960))
                .row(
                        "a key that was handed over by the first holder without an answer",
                        script().acquire("holder", 0, 1000, UNKNOWN)
                                .line("b/waiter", 10)
                                .release("holder", 30, UNKNOWN)
                                .handed("waiter", 2, 30, 35)
                                .held("waiter", 40, 4960))
                .row(
                        "a key that was handed over by the first reader without an answer",
                        script().reading()
                                .acquire("one", 0, 1000, UNKNOWN)
                                .grant("two", 2, 2, 1000)
                                .writing()
                                .line("b/waiter", 10)
                                .ended("people/two", 20)
                                .release("one", 30, UNKNOWN)
                                .handed("waiter", 3, 30, 35)
                                .held("waiter", 40, 4960))
                .row(
                        "a waiter that gets no answer when it asks for what it never received",
                        released()
                                .acquire("waiter", 1700, 6000, UNKNOWN)
                                .release("waiter", 1710, OK)
                                .counter(3, 2000))
                .row(
                        "a look at the next grant of a waiter whose first one was ended",
                        released()
                                .ended("people/waiter", 33)
                                .taking(10)
                                .grant("waiter", 3, 1700, 6000)
                                .taking(1)
                                .found("c/waiter", 3, 1700, 1705))
                .row(
                        "a grant that was ended when its holder had just asked for it again",
                        released()
                                .ended("people/waiter", 33)
                                .grant("c/next", 3, 33, 1000)
                                .line("waiter", 32)
                                .release("next", 100, OK)
                                .handed("waiter", 4, 100, 105)
                                .release("waiter", 110, OK)
                                .counter(4, 200))
                .row(
                        "an acquire request that was never sent and the release of what was handed over before it",
                        script().grant("holder", 1, 0, 6000)
                                .line("b/waiter", 10)
                                .release("holder", 30, OK)
                                .handed("waiter", 2, 30, 32)
                                .acquire("waiter", 33, 6000, FAILED)
                                .on("syncguard-release")
                                .release("waiter", 40, OK)
                                .grant("c/next", 3, 50, 100));
    }

    /**
     * The waiter is handed the key with fence 2 and does nothing; the second waiter gets it when that lease has ended.
     */
    private static HistoryScript secondWaits() {
        return script().grant("holder", 1, 0, 20_000)
                .line("b/waiter", 10)
                .line("c/second", 20)
                .renew("second", 4000)
                .release("holder", 30, OK)
                .line("second", 6040)
                .grant("second", 3, 6050, 6000);
    }

    /** One caller holds the key, and another waits for it. */
    private static HistoryScript waits() {
        return script().grant("holder", 1, 0, 1000).line("b/waiter", 10);
    }

    /** The holder has gone. */
    private static HistoryScript released() {
        return waits().release("holder", 30, OK);
    }

    private static HistoryScript handed() {
        return released().handed("waiter", 2, 30, 35);
    }
}
