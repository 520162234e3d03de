package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.BUSY;
import static io.syncguard.verification.history.HistoryEvent.Outcome.FAILED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.NOT_HELD;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.script;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.Violation.Rule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The checker rejects each history of a key in which grants, fences or refusals break the contract, and names the
 * events. It accepts histories that the contract allows, including those with unknown outcomes.
 */
class HistoryCheckerTests {

    @TestFactory
    HistoryTable rejected() {
        return new HistoryTable()
                .rejected(Rule.ONE_LIVE_GRANT, "1 ms before the lease before it had lapsed")
                .row(
                        "a grant one millisecond before the lease before it lapsed",
                        script().grant("one", 1, 0, 100).grant("b/two", 2, 1099, 100))
                .rejected(Rule.ONE_LIVE_GRANT, "500 ms before the lease before it had lapsed")
                .row(
                        "a grant before an extended lease lapsed",
                        script().grant("one", 1, 0, 100)
                                .extend("one", 600, 100, OK)
                                .grant("b/two", 2, 1200, 100))
                .rejected(Rule.ONE_LIVE_GRANT, "before the lease before it had lapsed")
                .row(
                        "a grant beside a lease whose release failed",
                        script().grant("one", 1, 0, 100)
                                .release("one", 50, FAILED)
                                .release("one", 60, BUSY)
                                .grant("b/two", 2, 100, 100))
                .rejected(Rule.FENCES, "one fence was granted twice")
                .row(
                        "a fence that was granted twice",
                        script().grant("one", 1, 0, 100).release("one", 10, OK).grant("two", 1, 20, 100))
                .rejected(Rule.FENCES, "a later grant has a smaller fence")
                .row(
                        "a fence that goes down",
                        script().grant("one", 2, 0, 100).release("one", 10, OK).grant("two", 1, 20, 100))
                .row(
                        "a fence that goes down by the clock of the server",
                        script().taking(30)
                                .grant("one", 2, 0, 100)
                                .taking(1)
                                .release("one", 40, OK)
                                .grant("two", 1, 10, 100)
                                .release("two", 15, OK))
                .rejected(Rule.FENCES, "a gap of 1 between two fences")
                .row(
                        "a gap between fences that nothing explains",
                        script().grant("one", 1, 0, 100).release("one", 10, OK).grant("two", 3, 20, 100))
                .row(
                        "a gap that is larger than the number of unknown outcomes",
                        script().grant("one", 1, 0, 100)
                                .release("one", 10, OK)
                                .acquire("lost", 12, 100, UNKNOWN)
                                .release("lost", 14, NOT_HELD)
                                .grant("two", 4, 20, 100))
                .row(
                        "a gap before an acquire of unknown outcome was sent",
                        script().grant("one", 1, 0, 100)
                                .release("one", 10, OK)
                                .grant("two", 3, 20, 100)
                                .release("two", 30, OK)
                                .acquire("lost", 40, 100, UNKNOWN)
                                .release("lost", 45, NOT_HELD))
                .row(
                        "a gap after an acquire of unknown outcome has settled",
                        script().acquire("lost", 0, 100, UNKNOWN)
                                .release("lost", 2, OK)
                                .grant("one", 1, 9000, 100)
                                .release("one", 9010, OK)
                                .grant("two", 3, 9020, 100))
                .row(
                        "a counter that is ahead of the fences",
                        script().grant("one", 1, 0, 100).counter(2, 50))
                .rejected(Rule.FENCES, "the counter is behind")
                .row(
                        "a counter that is behind the fences",
                        script().grant("one", 1, 0, 100).counter(0, 50))
                .rejected(Rule.JUSTIFIED_REFUSAL, "the key was free")
                .row("a refusal with nobody there", script().acquire("one", 0, 100, REFUSED))
                .row(
                        "a refusal after the release",
                        script().grant("one", 1, 0, 100).release("one", 10, OK).acquire("two", 20, 100, REFUSED))
                .row(
                        "a refusal after the lease lapsed",
                        script().grant("one", 1, 0, 100).acquire("two", 1200, 100, REFUSED))
                .row(
                        "a refusal before the only grant",
                        script().acquire("one", 0, 100, REFUSED).grant("two", 1, 10, 100))
                .rejected(Rule.JOIN, "another fence than the outer one")
                .row(
                        "a nested request with another fence",
                        script().grant("one", 1, 0, 100).joined("one", 10, 2, 1))
                .row(
                        "a nested request that knows of a release by another process",
                        script().grant("one", 1, 0, 100)
                                .release("b/one", 5, OK)
                                .grant("two", 2, 10, 100)
                                .joined("one", 9, 2, 1))
                .rejected(Rule.CLOCK_AFTER_LOCK, "older than the lock that it waited for")
                .row(
                        "a grant whose time was read before the row was won",
                        script().serialised(0, 100).taking(60).grant("one", 1, 50, 1000))
                .rejected(Rule.PINNED_STAYS, "a pinned lease was released")
                .row(
                        "a pinned lease that is released",
                        script().grant("one", 1, 0, 1000)
                                .pinned("one", 100, 200)
                                .release("one", 150, OK))
                .rejected(Rule.PINNED_STAYS, "a pinned lease was taken over")
                .row(
                        "a pinned lease that is taken over",
                        script().grant("one", 1, 0, 100)
                                .pinned("one", 1000, 1200)
                                .grant("b/two", 2, 1150, 100))
                .rejected(Rule.EFFECTS, "wrote after its successor")
                .row(
                        "a holder that writes after its successor and is still held",
                        script().grant("one", 1, 0, 100)
                                .grant("b/two", 2, 1100, 100)
                                .wrote("two", 2, 7, 1110, OK)
                                .wrote("one", 1, 8, 1120, OK))
                .rejected(Rule.COMMITS, "follows one with a larger fence")
                .row(
                        "a guarded commit after that of a later holder",
                        script().grant("one", 1, 0, 100)
                                .grant("b/two", 2, 1200, 100)
                                .committed("two", 2, 1, 1210)
                                .committed("one", 1, 2, 1220))
                .rejected(Rule.COMMITS, "two commits made one version")
                .row(
                        "two guarded commits that make one version",
                        script().grant("one", 1, 0, 1000)
                                .committed("one", 1, 3, 10)
                                .committed("one", 1, 3, 20));
    }

    @TestFactory
    HistoryTable accepted() {
        return new HistoryTable()
                .accepted()
                .row(
                        "a reader that gets the lease of a request without an answer after another was granted the key",
                        script().reading()
                                .acquire("one", 0, 1000, UNKNOWN)
                                .grant("b/two", 2, 10, 1000)
                                .grant("one", 1, 20, 1000)
                                .release("one", 30, OK)
                                .counter(2, 40))
                .row(
                        "leases that are released and taken in turn",
                        script().grant("one", 1, 0, 100)
                                .held("one", 10, 80)
                                .acquire("b/two", 20, 100, REFUSED)
                                .found("one", 1, 0, 25)
                                .releasedHandle("one", 30)
                                .release("one", 30, OK)
                                .missed("one", 35)
                                .missed("", 35)
                                .grant("b/three", 2, 40, 100)
                                .counter(2, 50))
                .row(
                        "a request without an answer that is executed after the lease of the next one",
                        script().acquire("one", 0, 300, UNKNOWN)
                                .grant("one", 1, 110, 300)
                                .release("one", 150, OK)
                                .acquire("b/two", 200, 300, REFUSED)
                                .release("one", 400, OK)
                                .grant("two", 3, 500, 300)
                                .release("two", 600, OK)
                                .counter(3, 700))
                .row(
                        "an extension by another client of a grant to a request without an answer",
                        script().acquire("one", 0, 300, UNKNOWN)
                                .grant("one", 1, 110, 300)
                                .release("one", 150, OK)
                                .extend("b/one", 200, 300, OK)
                                .release("one", 400, OK)
                                .counter(2, 700))
                .row(
                        "a grant at the very millisecond at which the lease before it lapsed",
                        script().grant("one", 1, 0, 100).grant("b/two", 2, 1100, 100))
                .row(
                        "a lease that was shortened and lapsed",
                        script().grant("one", 1, 0, 5000)
                                .extend("one", 10, 100, OK)
                                .held("one", 20, 89)
                                .grant("b/two", 2, 1111, 100))
                .row(
                        "a lease that another thread released before its holder was answered",
                        script().taking(20)
                                .grant("one", 1, 0, 1000)
                                .taking(1)
                                .on("other")
                                .release("one", 10, OK)
                                .grant("b/two", 2, 15, 100)
                                .on("client")
                                .held("one", 25, 970)
                                .release("one", 30, NOT_HELD))
                .row(
                        "a lease that another thread shortened before its holder was answered",
                        script().taking(20)
                                .grant("one", 1, 0, 1000)
                                .taking(1)
                                .on("other")
                                .extend("one", 10, 100, OK)
                                .on("client")
                                .held("one", 25, 970))
                .row(
                        "a handle that another thread extended before its holder used it",
                        script().grant("one", 1, 0, 100)
                                .on("other")
                                .extend("one", 10, 1000, OK)
                                .on("client")
                                .held("one", 25, 980))
                .row(
                        "a nested request of a thread whose lock another one has released",
                        script().grant("one", 1, 0, 100)
                                .on("other")
                                .release("one", 5, OK)
                                .on("client")
                                .grant("two", 2, 10, 100)
                                .joined("one", 9, 2, 1))
                .row(
                        "a lease that was perhaps shortened and lapsed",
                        script().grant("one", 1, 0, 5000)
                                .extend("one", 10, 100, UNKNOWN)
                                .grant("b/two", 2, 1111, 100))
                .row(
                        "an extension in the second for which a lease is kept",
                        script().grant("one", 1, 0, 100)
                                .extend("one", 1099, 100, OK)
                                .release("one", 2190, OK))
                .row(
                        "a lapsed lease of which the server knows nothing",
                        script().grant("one", 1, 0, 100)
                                .missed("one", 1100)
                                .extend("one", 1100, 100, NOT_HELD)
                                .release("one", 1101, NOT_HELD)
                                .lost(1, 1102)
                                .sawLoss("one", 1103)
                                .processEnded("a", 10_000))
                .row(
                        "unknown outcomes that explain a gap",
                        script().grant("one", 1, 0, 100)
                                .release("one", 10, OK)
                                .acquire("lost", 12, 100, UNKNOWN)
                                .release("lost", 14, OK)
                                .acquireWithoutAnswer("killed", 15, 100)
                                .grant("b/two", 4, 1200, 100)
                                .counter(4, 1300)
                                .processEnded("a", 20))
                .row(
                        "an unknown outcome that the counter alone shows",
                        script().grant("one", 1, 0, 100)
                                .release("one", 10, OK)
                                .acquire("lost", 12, 100, UNKNOWN)
                                .release("lost", 14, OK)
                                .counter(2, 50))
                .row(
                        "an unknown outcome that came to nothing",
                        script().acquire("lost", 0, 100, UNKNOWN)
                                .release("lost", 2, NOT_HELD)
                                .grant("one", 1, 10, 100)
                                .counter(1, 20))
                .row(
                        "an unknown outcome whose release waits behind a stuck one",
                        script().acquire("lost", 0, 100, UNKNOWN)
                                .releaseStuckOf("a", 3000)
                                .processEnded("a", 10_000))
                .row(
                        "a refusal by a grant of which nobody was informed",
                        script().acquire("lost", 0, 100, UNKNOWN)
                                .release("lost", 30, OK)
                                .acquire("b/one", 10, 100, REFUSED)
                                .acquire("b/two", 20, 100, REFUSED))
                .row(
                        "a refusal by a process that was killed and sent its request at the end",
                        script().acquireWithoutAnswer("killed", 0, 100)
                                .acquire("b/one", 4000, 100, REFUSED)
                                .processEnded("a", 3000))
                .row(
                        "a refusal by a lapsed lease that is pinned",
                        script().grant("one", 1, 0, 100)
                                .pinned("one", 1000, 1300)
                                .acquire("b/two", 1200, 100, REFUSED))
                .row(
                        "a refusal by a lapsed lease that a stalled extension has locked",
                        script().grant("one", 1, 0, 100)
                                .taking(500)
                                .extend("one", 1000, 600, OK)
                                .taking(1)
                                .acquire("b/two", 1200, 100, REFUSED)
                                .grant("b/three", 2, 2600, 100))
                .row(
                        "a refusal by a lapsed lease that is being swept",
                        script().grant("one", 1, 0, 100).swept(2150).acquire("b/two", 2150, 100, REFUSED))
                .row(
                        "a release of unknown outcome and the next grant",
                        script().grant("one", 1, 0, 5000)
                                .release("one", 10, UNKNOWN)
                                .grant("b/two", 2, 20, 100)
                                .release("one", 30, NOT_HELD))
                .row(
                        "a holder that does not know yet that another client released it",
                        script().grant("one", 1, 0, 1000)
                                .release("b/one", 10, OK)
                                .grant("b/two", 2, 20, 100)
                                .held("one", 30, 900)
                                .wrote("one", 1, 5, 31, OK))
                .row(
                        "a holder that does not know yet that its lease was deleted",
                        script().grant("one", 1, 0, 1000)
                                .ended("people/one", 10)
                                .grant("b/two", 2, 20, 100)
                                .held("one", 30, 900)
                                .extend("one", 40, 1000, NOT_HELD))
                .row(
                        "a waiter whose grant comes after requests without answer and is over when it is released",
                        script().reading()
                                .acquire("reader", 0, 1000, UNKNOWN)
                                .taking(2000)
                                .grant("reader", 1, 10, 100)
                                .taking(1)
                                .release("reader", 2020, NOT_HELD)
                                .release("reader", 3000, NOT_HELD)
                                .processEnded("a", 20_000))
                .row(
                        "a paused holder that writes late and then learns that it lost",
                        script().grant("one", 1, 0, 100)
                                .grant("b/two", 2, 1100, 100)
                                .wrote("two", 2, 7, 1110, OK)
                                .wrote("one", 1, 8, 1120, NOT_HELD))
                .row(
                        "a pinned lease that is busy and extended",
                        script().grant("one", 1, 0, 1000)
                                .pinned("one", 100, 300)
                                .release("one", 150, BUSY)
                                .extend("one", 200, 1000, OK)
                                .release("one", 310, OK))
                .row(
                        "a grant that waited for the serialising row",
                        script().serialised(0, 100).grant("one", 1, 101, 100));
    }

    @Test
    void a_leader_beside_another_one() {
        assertThat(script().led(1, 1, 0)
                        .by("b")
                        .led(2, 1, 10)
                        .by("a")
                        .led(1, 1, 20)
                        .check())
                .extracting(Violation::rule)
                .containsExactly(Rule.TERMS);
    }
}
