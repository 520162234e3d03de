package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.Outcome.LEFT;
import static io.syncguard.verification.history.HistoryEvent.Outcome.OK;
import static io.syncguard.verification.history.HistoryEvent.Outcome.REFUSED;
import static io.syncguard.verification.history.HistoryEvent.Outcome.UNKNOWN;
import static io.syncguard.verification.history.HistoryScript.accepts;
import static io.syncguard.verification.history.HistoryScript.rejects;
import static io.syncguard.verification.history.HistoryScript.script;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Source;
import io.syncguard.verification.history.Violation.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules for permits: histories that the checker rejects, and histories that it accepts. */
class PermitRulesTests {

    /** Two of two permits are used. */
    private static HistoryScript full() {
        return script().permits(2).grant("one", 1, 0, 1000).by("b").grant("two", 2, 10, 1000);
    }

    @Test
    void more_than_its_number_are_rejected() {
        rejects(
                Rule.PERMITS,
                "one of 2 permits was granted beside 2 shared leases",
                full().by("c").grant("three", 3, 20, 1000));
    }

    @Test
    void a_request_is_judged_by_its_own_number() {
        accepts(full().by("c").permits(3).grant("three", 3, 20, 1000));
        rejects(Rule.PERMITS, "one of 1 permits", full().by("c").permits(1).grant("three", 3, 20, 1000));
    }

    @Test
    void readers_without_a_limit_count_but_have_no_limit() {
        accepts(full().by("c").reading().grant("reader", 3, 20, 1000));
        rejects(
                Rule.PERMITS,
                "beside 2 shared leases",
                script().reading()
                        .grant("one", 1, 0, 1000)
                        .grant("two", 2, 10, 1000)
                        .by("c")
                        .permits(2)
                        .grant("three", 3, 20, 1000));
    }

    @Test
    void a_lapsed_lease_frees_its_permit_after_the_tolerance() {
        accepts(full().by("c").grant("three", 3, 2001, 1000));
        rejects(Rule.PERMITS, "one of 2 permits", full().by("c").grant("three", 3, 1990, 1000));
    }

    @Test
    void a_release_frees_one_permit() {
        accepts(full().release("two", 20, OK).by("c").grant("three", 3, 30, 1000));
        rejects(
                Rule.PERMITS,
                "one of 2 permits",
                full().release("two", 20, OK)
                        .by("c")
                        .grant("three", 3, 30, 1000)
                        .by("d")
                        .grant("four", 4, 40, 1000));
    }

    @Test
    void a_release_without_an_answer_may_have_freed_its_permit() {
        accepts(full().release("two", 20, UNKNOWN).by("c").grant("three", 3, 30, 1000));
    }

    @Test
    void a_lease_that_was_extended_uses_its_permit() {
        rejects(
                Rule.PERMITS,
                "one of 2 permits",
                full().extend("two", 900, 1000, OK)
                        .by("a")
                        .extend("one", 910, 1000, OK)
                        .by("c")
                        .grant("three", 3, 2500, 1000));
    }

    @Test
    void a_pinned_lease_uses_its_permit_after_its_end() {
        rejects(
                Rule.PERMITS,
                "one of 1 permits",
                script().permits(1)
                        .grant("one", 1, 0, 100)
                        .pinned("one", 50, 5000)
                        .by("b")
                        .grant("two", 2, 3000, 1000));
    }

    @Test
    void an_exclusive_lease_excludes_permits_and_permits_exclude_it() {
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                script().grant("drain", 1, 0, 1000).by("b").permits(5).grant("one", 2, 10, 1000));
        rejects(
                Rule.ONE_LIVE_GRANT,
                "before the lease before it had lapsed",
                full().release("two", 20, OK).by("c").writing().grant("drain", 3, 30, 1000));
        accepts(full().release("two", 20, OK)
                .by("a")
                .release("one", 21, OK)
                .by("c")
                .writing()
                .grant("drain", 3, 30, 1000));
    }

    @Test
    void a_waiter_with_permits_is_passed_by_nobody() {
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                full().by("c").queue("third", 20).by("d").reading().grant("reader", 3, 30, 100));
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                full().by("c").queue("third", 20).by("d").permits(9).grant("larger", 3, 30, 100));
        rejects(
                Rule.ORDER_OF_ARRIVAL,
                "a later waiter was granted first",
                full().by("c")
                        .queue("third", 20)
                        .by("d")
                        .permits(9)
                        .queue("larger", 30)
                        .grant("larger", 3, 40, 100));
    }

    @Test
    void a_request_with_permits_passes_no_reader_and_no_drain_that_waits() {
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                full().by("c").writing().queue("drain", 20).by("d").permits(9).grant("larger", 3, 30, 100));
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                full().by("c")
                        .writing()
                        .queue("drain", 20)
                        .reading()
                        .queue("reader", 25)
                        .release("drain", 30, LEFT)
                        .by("d")
                        .permits(9)
                        .grant("larger", 3, 40, 100));
    }

    @Test
    void a_waiter_with_a_smaller_number_keeps_others_waiting_although_they_had_room() {
        accepts(full().by("c")
                .permits(1)
                .queue("small", 20)
                .by("d")
                .permits(9)
                .acquire("large", 30, 100, REFUSED)
                .reading()
                .acquire("reader", 40, 100, REFUSED)
                .by("c")
                .release("small", 50, LEFT));
    }

    @Test
    void a_refusal_although_a_permit_is_free_is_rejected() {
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "one of 3 permits was free",
                full().by("c").permits(3).acquire("third", 20, 100, REFUSED));
        rejects(
                Rule.JUSTIFIED_REFUSAL,
                "one of 2 permits was free",
                full().release("two", 20, OK).by("c").acquire("third", 30, 100, REFUSED));
        accepts(full().by("c").acquire("third", 20, 100, REFUSED));
    }

    @Test
    void a_release_hands_over_to_as_many_as_fit() {
        accepts(full().by("c")
                .line("third", 20)
                .permits(3)
                .line("fourth", 25)
                .by("a")
                .release("one", 30, OK)
                .by("c")
                .handed("third", 3, 30, 31)
                .by("d")
                .handed("fourth", 4, 30, 31)
                .processEnded("c", 100)
                .processEnded("d", 100));
    }

    @Test
    void hand_overs_to_more_than_fit_are_rejected() {
        rejects(
                Rule.PERMITS,
                "one of 2 permits was granted beside 2 shared leases",
                full().by("c")
                        .line("third", 20)
                        .line("fourth", 25)
                        .by("a")
                        .release("one", 30, OK)
                        .by("c")
                        .handed("third", 3, 30, 31)
                        .handed("fourth", 4, 30, 31));
    }

    @Test
    void a_hand_over_without_a_release_is_rejected() {
        rejects(
                Rule.HAND_OVER,
                "handed over without a release",
                full().by("c").permits(3).line("third", 20).handed("third", 3, 30, 31));
    }

    /** At the second time, its first lease may have lapsed. */
    @ParameterizedTest
    @ValueSource(ints = {60, 6010})
    void a_hand_over_that_was_missed_is_found_after_later_grants(int foundAt) {
        accepts(full().by("c")
                .line("third", 20)
                .by("a")
                .release("one", 30, OK)
                .by("d")
                .permits(3)
                .grant("fourth", 4, 40, 1000)
                .release("fourth", 50, OK)
                .by("c")
                .permits(2)
                .foundOwn("third", 3, foundAt, foundAt, 1000));
    }

    /** A waiter, before it asks again, may have been handed a lease that was ended in the store. */
    @Test
    void a_waiter_is_passed_when_it_has_a_lease_that_it_does_not_know() {
        accepts(passed().ended("third", 50).by("c").permits(2).line("third", 60).release("third", 70, LEFT));
        rejects(
                Rule.NEWCOMERS_YIELD,
                "a first try passed a waiter",
                passed().by("c")
                        .renew("third", 45)
                        .ended("third", 50)
                        .permits(2)
                        .line("third", 60));
    }

    /** One permit is given back while one waits, and a newcomer gets one of three. */
    private static HistoryScript passed() {
        return full().by("c")
                .line("third", 20)
                .by("a")
                .release("one", 30, OK)
                .by("d")
                .permits(3)
                .grant("newcomer", 4, 40, 1000);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10_000})
    void the_number_is_in_the_line_of_an_event(int permits) {
        HistoryEvent event = HistoryEvent.of(Kind.ACQUIRE, new Source("a", "client", 1), "key", "lock", 1)
                .with(Lease.ofTtl(10).shared(true).permits(permits));

        assertThat(List.of(HistoryEvent.ofLine(event.toLine(), text -> text))).containsExactly(event);
    }
}
