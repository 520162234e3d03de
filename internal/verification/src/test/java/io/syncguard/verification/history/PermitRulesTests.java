package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.script;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Source;
import io.syncguard.verification.history.Violation.Rule;
import java.util.List;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules for permits: histories that the checker rejects, and histories that it accepts. */
class PermitRulesTests {

    @TestFactory
    HistoryTable histories() {
        return new HistoryTable()
                .rejected(Rule.PERMITS, "one of 2 permits was granted beside 2 shared leases")
                .row("more than its number", full().grant("c/three", 3, 20, 1000))
                .row(
                        "hand-overs to more than fit",
                        full().line("c/third", 20)
                                .line("c/fourth", 25)
                                .release("one", 30, OK)
                                .handed("third", 3, 30, 31)
                                .handed("fourth", 4, 30, 31))
                .rejected(Rule.PERMITS, "one of 1 permits")
                .row("a request for fewer than there are", full().permits(1).grant("c/three", 3, 20, 1000))
                .row(
                        "a permit of a lease that is pinned after its end",
                        script().permits(1)
                                .grant("one", 1, 0, 100)
                                .pinned("one", 50, 5000)
                                .grant("b/two", 2, 3000, 1000))
                .rejected(Rule.PERMITS, "beside 2 shared leases")
                .row(
                        "permits beside readers without a limit, who count",
                        script().reading()
                                .grant("one", 1, 0, 1000)
                                .grant("two", 2, 10, 1000)
                                .permits(2)
                                .grant("c/three", 3, 20, 1000))
                .rejected(Rule.PERMITS, "one of 2 permits")
                .row("a permit of a lapsed lease before the tolerance is over", full().grant("c/three", 3, 1990, 1000))
                .row(
                        "two permits after one release",
                        full().release("two", 20, OK)
                                .grant("c/three", 3, 30, 1000)
                                .grant("d/four", 4, 40, 1000))
                .row(
                        "a permit of a lease that was extended",
                        full().extend("two", 900, 1000, OK)
                                .extend("one", 910, 1000, OK)
                                .grant("c/three", 3, 2500, 1000))
                .rejected(Rule.ONE_LIVE_GRANT, "before the lease before it had lapsed")
                .row(
                        "a permit beside an exclusive lease",
                        script().grant("drain", 1, 0, 1000).permits(5).grant("b/one", 2, 10, 1000))
                .row(
                        "an exclusive lease beside a permit",
                        full().release("two", 20, OK).writing().grant("c/drain", 3, 30, 1000))
                .rejected(Rule.NEWCOMERS_YIELD, "a first try passed a waiter")
                .row(
                        "a reader that passes a waiter with permits",
                        full().queue("c/third", 20).reading().grant("d/reader", 3, 30, 100))
                .row(
                        "a request for more permits that passes a waiter",
                        full().queue("c/third", 20).permits(9).grant("d/larger", 3, 30, 100))
                .row(
                        "a request with permits that passes a drain",
                        full().writing().queue("c/drain", 20).permits(9).grant("d/larger", 3, 30, 100))
                .row(
                        "a request with permits that passes a reader",
                        full().writing()
                                .queue("c/drain", 20)
                                .reading()
                                .queue("c/reader", 25)
                                .release("drain", 30, LEFT)
                                .permits(9)
                                .grant("d/larger", 3, 40, 100))
                .row(
                        "a waiter that is passed although it has just asked",
                        passed().renew("third", 45)
                                .ended("third", 50)
                                .permits(2)
                                .line("third", 60))
                .rejected(Rule.ORDER_OF_ARRIVAL, "a later waiter was granted first")
                .row(
                        "a waiter with more permits that is granted first",
                        full().queue("c/third", 20)
                                .permits(9)
                                .queue("d/larger", 30)
                                .grant("larger", 3, 40, 100))
                .rejected(Rule.JUSTIFIED_REFUSAL, "one of 3 permits was free")
                .row(
                        "a refusal although three are more than two",
                        full().permits(3).acquire("c/third", 20, 100, REFUSED))
                .rejected(Rule.JUSTIFIED_REFUSAL, "one of 2 permits was free")
                .row("a refusal after a release", full().release("two", 20, OK).acquire("c/third", 30, 100, REFUSED))
                .rejected(Rule.HAND_OVER, "handed over without a release")
                .row(
                        "a hand-over without a release",
                        full().permits(3).line("c/third", 20).handed("third", 3, 30, 31))
                .accepted()
                .row("a request for more than there are", full().permits(3).grant("c/three", 3, 20, 1000))
                .row(
                        "a reader without a limit beside all permits",
                        full().reading().grant("c/reader", 3, 20, 1000))
                .row("a permit of a lapsed lease after the tolerance", full().grant("c/three", 3, 2001, 1000))
                .row(
                        "one permit after one release",
                        full().release("two", 20, OK).grant("c/three", 3, 30, 1000))
                .row(
                        "a release without an answer may have freed its permit",
                        full().release("two", 20, UNKNOWN).grant("c/three", 3, 30, 1000))
                .row(
                        "an exclusive lease after all permits",
                        full().release("two", 20, OK)
                                .release("one", 21, OK)
                                .writing()
                                .grant("c/drain", 3, 30, 1000))
                .row(
                        "a waiter with a smaller number keeps others waiting although they had room",
                        full().permits(1)
                                .queue("c/small", 20)
                                .permits(9)
                                .acquire("d/large", 30, 100, REFUSED)
                                .reading()
                                .acquire("d/reader", 40, 100, REFUSED)
                                .release("small", 50, LEFT))
                .row(
                        "a refusal although nobody waits, because no permit is free",
                        full().acquire("c/third", 20, 100, REFUSED))
                .row(
                        "a release hands over to as many as fit",
                        full().line("c/third", 20)
                                .permits(3)
                                .line("c/fourth", 25)
                                .release("one", 30, OK)
                                .handed("third", 3, 30, 31)
                                .handed("d/fourth", 4, 30, 31)
                                .processEnded("c", 100)
                                .processEnded("d", 100))
                // A waiter, before it asks again, may have been handed a lease that was ended in the store.
                .row(
                        "a waiter that is passed because it has a lease that it does not know",
                        passed().ended("d/third", 50)
                                .permits(2)
                                .line("third", 60)
                                .release("third", 70, LEFT))
                .row("a hand-over that was missed and is found after later grants", missed(60))
                .row("a hand-over that was missed and is found when its first lease may have lapsed", missed(6010));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10_000})
    void the_number_is_in_the_line_of_an_event(int permits) {
        HistoryEvent event = HistoryEvent.of(Kind.ACQUIRE, new Source("a", "client", 1), "key", "lock", 1)
                .with(Lease.ofTtl(10).shared(true).permits(permits));

        assertThat(List.of(HistoryEvent.ofLine(event.toLine(), text -> text))).containsExactly(event);
    }

    /** Two of two permits are used. */
    private static HistoryScript full() {
        return script().permits(2).grant("one", 1, 0, 1000).grant("b/two", 2, 10, 1000);
    }

    /** One permit is given back while one waits, and a newcomer gets one of three. */
    private static HistoryScript passed() {
        return full().line("c/third", 20).release("one", 30, OK).permits(3).grant("d/newcomer", 4, 40, 1000);
    }

    /** One is handed a permit, and does not know it until then. */
    private static HistoryScript missed(int foundAt) {
        return full().line("c/third", 20)
                .release("one", 30, OK)
                .permits(3)
                .grant("d/fourth", 4, 40, 1000)
                .release("fourth", 50, OK)
                .permits(2)
                .foundOwn("third", 3, foundAt, foundAt, 1000);
    }
}
