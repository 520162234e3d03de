package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.held;
import static io.syncguard.verification.history.HistoryScript.script;
import static io.syncguard.verification.history.HistoryScript.twoWait;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.TestFactory;

/**
 * The checker rejects each history with a grant out of turn, a grant beside a conflicting lease, or a wait without a
 * reason. It accepts histories of readers, writers and waiters that the contract allows, even if the order of arrival is
 * uncertain.
 */
class QueueRulesTests {

    @TestFactory
    HistoryTable rejected() {
        return new HistoryTable()
                .rejected(Rule.NEWCOMERS_YIELD, "a first try passed a waiter")
                .row(
                        "a reader that passes a waiting writer",
                        script().reading()
                                .grant("reader", 1, 0, 1000)
                                .writing()
                                .queue("b/writer", 10)
                                .reading()
                                .grant("c/later", 2, 20, 100))
                .row(
                        "a try that does not wait and passes a waiter",
                        held().queue("b/waiter", 10).release("holder", 20, OK).grant("c/try", 2, 30, 100))
                .rejected(Rule.ORDER_OF_ARRIVAL, "a later waiter was granted first")
                .row(
                        "a writer that is granted before one who came first",
                        twoWait().grant("second", 2, 40, 100))
                .row(
                        "a writer that is granted before one who came first after the server was killed",
                        twoWait().crashed(2, 5).grant("second", 2, 40, 100))
                .row(
                        "a writer that is granted before one who came first and is granted later",
                        twoWait()
                                .grant("second", 2, 40, 100)
                                .release("second", 50, OK)
                                .grant("first", 3, 60, 100))
                .row(
                        "a waiting reader that is granted before a writer who came first",
                        held().queue("b/writer", 10)
                                .reading()
                                .queue("c/reader", 20)
                                .release("holder", 30, OK)
                                .grant("reader", 2, 40, 100))
                .row(
                        "a waiter that is passed long after it came although its queue entry was renewed",
                        script().grant("holder", 1, 0, 20_000)
                                .queue("b/first", 10)
                                .renew("first", 4000)
                                .queue("first", 8900)
                                .queue("c/second", 20)
                                .release("holder", 8950, OK)
                                .grant("second", 2, 8960, 100))
                .rejected(Rule.JUSTIFIED_REFUSAL, "the key was free")
                .row(
                        "a refusal by a lease that was released long before the server was killed",
                        script().grant("holder", 1, 0, 5000)
                                .release("holder", 10, OK)
                                .crashed(2000, 2100)
                                .acquire("b/try", 2200, 100, REFUSED))
                .row("a wait for a free key", script().queue("writer", 0))
                .row("a wait for a waiter who came later", twoWait().queue("first", 40))
                .row(
                        "a wait for a waiter who left",
                        twoWait().release("first", 40, LEFT).queue("second", 50))
                .rejected(Rule.ONE_LIVE_GRANT, "before the lease before it had lapsed")
                .row(
                        "a writer beside a reader",
                        script().reading().grant("reader", 1, 0, 1000).writing().grant("b/writer", 2, 10, 100))
                .row("a reader beside a writer", held().reading().grant("b/reader", 2, 10, 100))
                .row(
                        "a writer beside the first of two readers of whom the second left",
                        script().reading()
                                .grant("one", 1, 0, 1000)
                                .grant("two", 2, 5, 1000)
                                .release("two", 10, OK)
                                .writing()
                                .grant("b/writer", 3, 20, 100))
                .row(
                        "a reader beside a writer with other readers in between",
                        held().reading()
                                .grant("b/one", 2, 10, 100)
                                .release("one", 15, OK)
                                .grant("b/two", 3, 20, 100))
                .rejected(Rule.DEADLINE, "held after another holder was granted the key")
                .row(
                        "a reader that is held after a writer was granted",
                        script().reading()
                                .grant("reader", 1, 0, 1000)
                                .writing()
                                .grant("b/writer", 2, 500, 1000)
                                .held("reader", 510, 400))
                .rejected(Rule.FENCES, "a later grant has a smaller fence")
                .row(
                        "a fence that goes down from a reader to a writer",
                        script().reading()
                                .grant("reader", 2, 0, 100)
                                .release("reader", 10, OK)
                                .writing()
                                .grant("writer", 1, 20, 100))
                .row(
                        "a fence that goes down to a reader all of whose requests came later",
                        script().reading()
                                .grant("one", 2, 0, 1000)
                                .acquire("b/two", 10, 1000, UNKNOWN)
                                .grant("two", 1, 20, 1000))
                .rejected(Rule.FENCES, "one fence was granted twice")
                .row(
                        "a fence of two readers",
                        script().reading().grant("one", 1, 0, 100).grant("b/two", 1, 10, 100))
                .rejected(Rule.NEIGHBOURS, "only readers conflicted with a reader")
                .row(
                        "a reader that is refused beside readers",
                        script().reading().grant("one", 1, 0, 1000).acquire("b/two", 10, 100, REFUSED))
                .row(
                        "a reader that has to wait behind a waiting reader",
                        held().reading()
                                .queue("b/one", 10)
                                .release("holder", 20, OK)
                                .queue("c/two", 30))
                .rejected(Rule.NOTHING_LEAKS, "a queue entry was never deleted")
                .row(
                        "a queue entry that is never given up",
                        held().queue("b/waiter", 10).processEnded("b", 20_000))
                .rejected(Rule.NOTHING_VANISHES, "a live lease was not found")
                .row("a live lease that is taken for a queue entry", held().release("holder", 10, LEFT))
                .rejected(Rule.SAME_GRANT, "of a grant changed")
                .row("a grant that changes its mode", held().reading().found("holder", 1, 0, 10))
                .rejected(Rule.PINNED_STAYS, "a pinned lease was taken over")
                .row(
                        "a pinned reader that a writer passes",
                        script().reading()
                                .grant("reader", 1, 0, 100)
                                .pinned("reader", 1000, 1300)
                                .writing()
                                .grant("b/writer", 2, 1150, 100));
    }

    @TestFactory
    HistoryTable accepted() {
        return new HistoryTable()
                .accepted()
                .row(
                        "readers beside each other that are held all the time",
                        script().reading()
                                .grant("one", 1, 0, 1000)
                                .grant("b/two", 2, 10, 1000)
                                .held("one", 20, 900)
                                .release("one", 30, OK)
                                .held("two", 40, 900)
                                .found("two", 2, 10, 45)
                                .release("two", 50, OK)
                                .writing()
                                .grant("c/writer", 3, 60, 100))
                .row(
                        "a queue entry that is lost when the server is killed",
                        twoWait().crashed(25, 35).grant("second", 2, 40, 100).release("first", 60, NOT_HELD))
                .row(
                        "a refusal by an entry that was made after a release by its lock id",
                        held().taking(100)
                                .line("b/waiter", 10)
                                .taking(1)
                                .release("c/waiter", 50, NOT_HELD)
                                .release("holder", 108, OK)
                                .reading()
                                .acquire("c/reader", 200, 100, REFUSED)
                                .release("waiter", 300, LEFT))
                .row(
                        "a refusal by a lease whose release was lost when the server was killed",
                        held().release("holder", 10, OK).crashed(20, 100).acquire("b/try", 200, 100, REFUSED))
                .row(
                        "a writer that waits for the last reader and readers that wait for the writer",
                        script().reading()
                                .grant("one", 1, 0, 1000)
                                .grant("two", 2, 1, 1000)
                                .writing()
                                .queue("b/writer", 10)
                                .reading()
                                .acquire("c/try", 15, 100, REFUSED)
                                .queue("c/three", 20)
                                .queue("c/four", 25)
                                .release("one", 30, OK)
                                .release("two", 40, OK)
                                .writing()
                                .grant("writer", 3, 50, 100)
                                .release("writer", 60, OK)
                                .reading()
                                .grant("four", 4, 70, 100)
                                .grant("three", 5, 80, 100))
                .row(
                        "a new reader that passes a waiting reader",
                        held().reading()
                                .queue("b/waits", 10)
                                .release("holder", 20, OK)
                                .grant("c/new", 2, 30, 100)
                                .grant("waits", 3, 40, 100))
                .row(
                        "two requests that crossed",
                        held().taking(5)
                                .queue("b/first", 10)
                                .queue("c/second", 12)
                                .taking(1)
                                .release("holder", 30, OK)
                                .grant("second", 2, 40, 100)
                                .release("second", 50, OK)
                                .grant("first", 3, 60, 100))
                .row(
                        "a waiter that gave up before the next was granted",
                        twoWait().release("first", 35, LEFT).grant("second", 2, 40, 100))
                .row(
                        "a waiter that was refused at its deadline before the next was granted",
                        twoWait().acquire("first", 25, 100, REFUSED).grant("second", 2, 40, 100))
                .row(
                        "a waiter of which nobody knows whether it left",
                        twoWait().release("first", 35, UNKNOWN).grant("second", 2, 40, 100))
                .row(
                        "a waiter whose last acquire request has no answer",
                        twoWait()
                                .acquireWithoutAnswer("first", 35, 10)
                                .processEnded("b", 36)
                                .grant("second", 3, 4000, 100))
                .row(
                        "a waiter that died and whose queue entry lapsed",
                        script().grant("holder", 1, 0, 20_000)
                                .queue("b/first", 10)
                                .processEnded("b", 20)
                                .queue("c/second", 20)
                                .renew("second", 4000)
                                .release("holder", 4500, OK)
                                .queue("second", 4600)
                                .grant("second", 2, 5020, 100))
                .row(
                        "a waiter that slept too long and came again",
                        script().grant("holder", 1, 0, 20_000)
                                .queue("b/first", 10)
                                .queue("c/second", 20)
                                .queue("second", 4000)
                                .renew("first", 4990)
                                .queue("first", 12_000)
                                .processEnded("b", 12_100)
                                .queue("second", 8000)
                                .release("holder", 12_500, OK)
                                .grant("second", 2, 12_600, 100))
                .row(
                        "a refusal by the queue entry of a process that was killed",
                        held().acquireWithoutAnswer("b/killed", 10, 100)
                                .processEnded("b", 11)
                                .release("holder", 20, OK)
                                .acquire("c/try", 6000, 100, REFUSED))
                .row(
                        "a reader that is refused because a writer waits",
                        script().reading()
                                .grant("reader", 1, 0, 1000)
                                .writing()
                                .queue("b/writer", 10)
                                .processEnded("b", 20)
                                .reading()
                                .acquire("c/try", 20, 100, REFUSED))
                .row(
                        "a queue entry that another client gave up and that is made again",
                        held().queue("b/first", 10)
                                .queue("c/second", 20)
                                .release("other client/first", 25, LEFT)
                                .release("holder", 30, OK)
                                .queue("first", 35)
                                .grant("second", 2, 40, 100)
                                .release("second", 45, OK)
                                .grant("first", 3, 50, 100))
                .row(
                        "a queue entry that was given up twice in doubt",
                        held().queue("b/waiter", 10)
                                .acquire("waiter", 20, 100, UNKNOWN)
                                .release("waiter", 25, LEFT)
                                .release("waiter", 50, NOT_HELD)
                                .processEnded("b", 20_000));
    }
}
