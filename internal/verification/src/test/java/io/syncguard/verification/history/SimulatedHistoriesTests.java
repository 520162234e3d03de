package io.syncguard.verification.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistorySimulator.Bug;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The checker accepts random histories of the model, and rejects them when one event is falsified. */
@Tag("verification")
class SimulatedHistoriesTests {

    private static final int STEPS = 2500;

    /** In the profile "verification". */
    private static final boolean LONG = Boolean.getBoolean("syncguard.verification");

    static LongStream seeds() {
        return LongStream.rangeClosed(1, LONG ? 30 : 12);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void what_the_model_does_is_accepted(long seed) {
        assertThat(check(HistorySimulator.simulate(seed, STEPS))).isEmpty();
    }

    /** The outcomes of some first grants are unknown, too. */
    @Test
    void what_the_model_does_with_many_new_keys_is_accepted() {
        assertThat(LongStream.rangeClosed(1, LONG ? 20_000 : 1000)
                        .mapToObj(seed -> check(HistorySimulator.simulate(seed, 40)))
                        .flatMap(List::stream))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void a_fence_that_is_repeated_is_rejected(long seed) {
        List<HistoryEvent> events = HistorySimulator.simulate(seed, STEPS);
        List<HistoryEvent> grants = grants(events);
        HistoryEvent grant = grants.get(grants.size() / 2);
        long fence = grants.get(grants.size() / 2 - 1).lease().fence();
        Lease repeated = new Lease(
                fence,
                grant.lease().ttl(),
                grant.lease().acquiredAt(),
                grant.lease().expiresAt(),
                grant.lease().shared(),
                grant.lease().permits());

        events.set(events.indexOf(grant), grant.with(repeated));

        assertThat(check(events)).extracting(Violation::rule).contains(Rule.FENCES);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void a_grant_without_the_release_before_it_is_rejected(long seed) {
        List<HistoryEvent> events = HistorySimulator.simulate(seed, STEPS);
        HistoryEvent released = firstReleased(events);

        events.removeIf(event -> event.is(Kind.RELEASE) && event.lock().equals(released.lock()));

        assertThat(check(events)).extracting(Violation::rule).contains(Rule.ONE_LIVE_GRANT);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void a_release_that_claims_not_to_have_found_its_lease_is_rejected(long seed) {
        List<HistoryEvent> events = HistorySimulator.simulate(seed, STEPS);
        HistoryEvent release = releaseOf(firstReleased(events), events);

        events.set(events.indexOf(release), release.answered(release.end(), Outcome.NOT_HELD));

        // If another request may have released it, the lease did not vanish, but was live at the next grant.
        assertThat(check(events)).extracting(Violation::rule).containsAnyOf(Rule.NOTHING_VANISHES, Rule.ONE_LIVE_GRANT);
    }

    /** The rule that finds the bug, or the rules of which one does. */
    static Stream<Arguments> bugs() {
        return Stream.of(
                arguments(Bug.READERS_PASS_WAITING_WRITERS, List.of(Rule.ORDER_OF_ARRIVAL, Rule.NEWCOMERS_YIELD)),
                arguments(Bug.WRITERS_PASS_EACH_OTHER, List.of(Rule.ORDER_OF_ARRIVAL)),
                arguments(Bug.WRITERS_IGNORE_READERS, List.of(Rule.ONE_LIVE_GRANT)),
                arguments(Bug.READERS_IGNORE_WRITERS, List.of(Rule.ONE_LIVE_GRANT)),
                arguments(Bug.TRIES_PASS_WHO_WAITS, List.of(Rule.NEWCOMERS_YIELD)),
                arguments(Bug.RELEASE_OF_A_READER_FREES_ALL, List.of(Rule.NOTHING_VANISHES)),
                arguments(Bug.READERS_STOP_READERS, List.of(Rule.NEIGHBOURS)),
                arguments(Bug.ONE_PERMIT_TOO_MANY, List.of(Rule.PERMITS)),
                arguments(Bug.LARGER_NUMBERS_PASS_SMALLER_ONES, List.of(Rule.ORDER_OF_ARRIVAL, Rule.NEWCOMERS_YIELD)),
                arguments(Bug.READERS_PASS_WHO_WAITS_FOR_PERMITS, List.of(Rule.NEWCOMERS_YIELD)),
                arguments(Bug.LAST_PERMIT_IS_NOT_GIVEN, List.of(Rule.JUSTIFIED_REFUSAL)),
                arguments(Bug.PERMITS_IGNORE_WRITERS, List.of(Rule.ONE_LIVE_GRANT)),
                arguments(Bug.THE_LAST_QUEUES_FIRST, List.of(Rule.ORDER_OF_ARRIVAL)),
                arguments(Bug.THE_LAST_IS_HANDED_THE_KEY, List.of(Rule.ORDER_OF_ARRIVAL)),
                arguments(Bug.FIRST_LEASES_COUNT_FROM_THE_MESSAGE, List.of(Rule.DEADLINE)));
    }

    @ParameterizedTest
    @MethodSource("bugs")
    void a_server_with_a_bug_is_found_out(Bug bug, List<Rule> rules) {
        assertThat(seeds().limit(12)
                        .mapToObj(seed -> check(HistorySimulator.simulate(seed, STEPS, bug)))
                        .flatMap(List::stream)
                        .map(Violation::rule))
                .containsAll(rules);
    }

    @Test
    void the_model_does_everything_that_is_judged() {
        List<HistoryEvent> all = new ArrayList<>();
        seeds().forEach(seed -> all.addAll(HistorySimulator.simulate(seed, STEPS)));

        assertThat(all.stream()
                        .map(event -> event.kind() + " " + event.outcome())
                        .distinct())
                .contains(
                        "ACQUIRE OK",
                        "ACQUIRE REFUSED",
                        "ACQUIRE QUEUED",
                        "ACQUIRE UNKNOWN",
                        "EXTEND OK",
                        "EXTEND NOT_HELD",
                        "EXTEND UNKNOWN",
                        "RELEASE OK",
                        "RELEASE NOT_HELD",
                        "RELEASE LEFT",
                        "RENEW OK",
                        "RENEW NOT_HELD",
                        "HANDED_OVER OK",
                        "RELEASE UNKNOWN",
                        "LOOKUP OK",
                        "LOOKUP NOT_HELD",
                        "HELD OK",
                        "LOST OK",
                        "EFFECT OK",
                        "EFFECT NOT_HELD");
    }

    private static List<HistoryEvent> grants(List<HistoryEvent> events) {
        return events.stream()
                .filter(event -> event.is(Kind.ACQUIRE, Outcome.OK))
                .sorted(Comparator.comparingLong(event -> event.lease().fence()))
                .toList();
    }

    /** The first grant that was certainly released at once, and that has another one after it. */
    private static HistoryEvent firstReleased(List<HistoryEvent> events) {
        List<HistoryEvent> grants = grants(events);
        return grants.subList(0, grants.size() - 1).stream()
                .filter(grant -> !grant.lease().shared())
                .filter(grant -> events.stream()
                                .filter(event -> event.lock().equals(grant.lock()))
                                .noneMatch(event -> event.outcome() == Outcome.UNKNOWN)
                        && events.stream()
                                .anyMatch(event -> event.is(Kind.RELEASE, Outcome.OK)
                                        && event.lock().equals(grant.lock()))
                        && successor(grant, grants).lease().acquiredAt()
                                < grant.lease().expiresAt() + 300
                        && events.stream()
                                .noneMatch(event ->
                                        event.is(Kind.EXTEND) && event.lock().equals(grant.lock())))
                .findFirst()
                .orElseThrow();
    }

    private static HistoryEvent successor(HistoryEvent grant, List<HistoryEvent> grants) {
        return grants.get(grants.indexOf(grant) + 1);
    }

    private static HistoryEvent releaseOf(HistoryEvent grant, List<HistoryEvent> events) {
        return events.stream()
                .filter(event ->
                        event.is(Kind.RELEASE, Outcome.OK) && event.lock().equals(grant.lock()))
                .findFirst()
                .orElseThrow();
    }

    private static List<Violation> check(List<HistoryEvent> events) {
        return HistoryChecker.check(events, new ProcessTimes());
    }
}
