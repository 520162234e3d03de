package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Judges the history of one key by a model: a fenced lock for readers and writers, with leases by the server's clock
 * and one queue.
 *
 * <ol>
 *   <li>{@link KeyHistory} groups the events by lock id, and sorts the grants by their fences.
 *   <li>{@link LeaseRules} check each lease, and the first conflicting grant after it, {@link FenceRules} the fences.
 *   <li>{@link QueueRules} check the order of the grants, {@link RefusalRules} refusals and waits,
 *   {@link HandOverRules} hand-overs, {@link InterruptRules} the effects of interrupts.
 *   <li>{@link RoomRules} check that a grant had waited for earlier leases.
 *   <li>{@link WorkRules} check guarded commits and terms of leadership.
 *   <li>This class checks the remaining rules of the key: pins, the clock, effects.
 * </ol>
 *
 * <p>Where an outcome is unknown, every rule assumes what is best for the library: each reported violation is certain.
 */
public final class HistoryChecker {

    private final ProcessTimes processes;
    private final List<HistoryEvent> events;
    private final KeyHistory history;
    private final List<LeaseHistory> grants;
    private final List<Violation> violations = new ArrayList<>();

    private HistoryChecker(List<HistoryEvent> events, ProcessTimes processes) {
        this.events = events;
        this.processes = processes;
        this.history = new KeyHistory(events, processes);
        this.grants = history.grants();
    }

    /**
     * @param events those of one key
     * @param processes that wrote them
     */
    public static List<Violation> check(List<HistoryEvent> events, ProcessTimes processes) {
        return new HistoryChecker(events, processes).check();
    }

    private List<Violation> check() {
        history.ungranted().forEach(this::ungrantedLease);
        findTakers();
        LeaseRules rules = new LeaseRules(processes, violations::add);
        history.leases().values().forEach(rules::check);
        history.acquiredAgain().forEach((acquire, lease) -> {
            // A request without an answer did not miss the lease.
            if (acquire.outcome() != Outcome.UNKNOWN) {
                rules.notMissed(lease, acquire);
            }
        });
        findByKey(rules);
        new FenceRules(history, violations::add).check(events);
        new RoomRules(grants, violations::add).check();
        new HandOverRules(history, processes, violations::add).check(events);
        new QueueRules(processes, violations::add).check(history.requests());
        new RefusalRules(history.leases(), history.requests(), events, violations::add).check(history.requests());
        new InterruptRules(processes, violations::add).check(events);
        new WorkRules(violations::add).check(events);
        pinnedLeasesStay();
        clockIsReadAfterTheLock();
        joinsHaveTheOuterFence();
        effectsAreInOrder();
        return violations;
    }

    private void ungrantedLease(HistoryEvent event) {
        if (event.is(Kind.HELD)) {
            report(Rule.DEADLINE, "a handle is held without a grant", event);
        } else if (event.is(Kind.EXTEND, Outcome.OK)
                || event.is(Kind.RELEASE, Outcome.OK)
                || event.is(Kind.LOOKUP, Outcome.OK)) {
            report(Rule.NOTHING_LEAKS, "a lease exists without a grant", event);
        }
    }

    /** The earliest answered grant of a larger fence that conflicts. */
    private void findTakers() {
        HistoryEvent earliest = null;
        HistoryEvent earliestExclusive = null;
        for (int i = grants.size() - 1; i >= 0; i--) {
            LeaseHistory lease = grants.get(i);
            HistoryEvent taker = lease.isShared() ? earliestExclusive : earliest;
            if (taker != null && taker.lease().fence() > lease.fence()) {
                lease.takenBy(taker);
            }
            earliest = earlier(earliest, lease.acquire());
            if (!lease.isShared()) {
                earliestExclusive = earlier(earliestExclusive, lease.acquire());
            }
        }
    }

    private static HistoryEvent earlier(HistoryEvent one, HistoryEvent other) {
        return one == null || other.end() < one.end() ? other : one;
    }

    private void findByKey(LeaseRules rules) {
        TreeMap<Long, LeaseHistory> byAnswer = new TreeMap<>();
        grants.forEach(lease -> byAnswer.put(lease.acquire().end(), lease));
        events.stream()
                .filter(event ->
                        event.is(Kind.LOOKUP, Outcome.NOT_HELD) && event.lock().isEmpty())
                .filter(event -> byAnswer.lowerEntry(event.start()) != null)
                .forEach(event ->
                        rules.notMissed(byAnswer.lowerEntry(event.start()).getValue(), event));
    }

    private void pinnedLeasesStay() {
        events.stream().filter(event -> event.is(Kind.PINNED)).forEach(pin -> {
            LeaseHistory pinned = history.leases().get(pin.lock());
            if (pinned == null || !pinned.isGranted()) {
                return;
            }
            pinned.all(Kind.RELEASE, Outcome.OK)
                    .filter(release -> isWithin(release, pin))
                    .forEach(release -> report(Rule.PINNED_STAYS, "a pinned lease was released", pin, release));
            grants.stream()
                    .filter(lease -> lease.fence() > pinned.fence() && lease.conflictsWith(pinned))
                    .filter(lease -> isWithin(lease.acquire(), pin))
                    .forEach(lease -> report(Rule.PINNED_STAYS, "a pinned lease was taken over", pin, lease.acquire()));
        });
    }

    private static boolean isWithin(HistoryEvent event, HistoryEvent window) {
        return event.start() > window.start() && event.end() < window.end();
    }

    private void clockIsReadAfterTheLock() {
        events.stream()
                .filter(event -> event.is(Kind.SERIALISED))
                .forEach(locked -> grants.stream()
                        .map(LeaseHistory::acquire)
                        .filter(grant -> grant.start() > locked.start() && grant.start() < locked.end())
                        .filter(grant ->
                                grant.lease().acquiredAt() < locked.lease().acquiredAt())
                        .forEach(grant -> report(
                                Rule.CLOCK_AFTER_LOCK,
                                "a grant is older than the lock that it waited for",
                                locked,
                                grant)));
    }

    private void joinsHaveTheOuterFence() {
        events.stream()
                .filter(event -> event.is(Kind.JOINED) && event.lease().fence() != event.value())
                .filter(event -> !hadReleased(event))
                .forEach(event -> report(Rule.JOIN, "a nested request has another fence than the outer one", event));
    }

    /** Another thread of the process, which knows the lock id, had released the outer lock: there was none to join. */
    private boolean hadReleased(HistoryEvent joined) {
        LeaseHistory outer = history.leases().get(joined.lock());
        return outer != null
                && outer.all(Kind.RELEASE).anyMatch(release -> outer.isOwn(release) && release.start() < joined.end());
    }

    private void effectsAreInOrder() {
        Map<Long, LeaseHistory> byFence = new HashMap<>();
        grants.forEach(lease -> byFence.put(lease.fence(), lease));
        HistoryEvent largest = null;
        for (HistoryEvent effect : events.stream()
                .filter(event -> event.is(Kind.EFFECT) && event.outcome() != Outcome.REFUSED)
                .sorted(Comparator.comparingLong(HistoryEvent::value))
                .toList()) {
            LeaseHistory lease = byFence.get(effect.lease().fence());
            boolean late =
                    largest != null && effect.lease().fence() < largest.lease().fence();
            if (late && effect.outcome() == Outcome.OK && (lease == null || !lease.wasTouchedByOthers())) {
                report(
                        Rule.EFFECTS,
                        "a holder that was held after its write wrote after its successor",
                        largest,
                        effect);
            }
            largest = late ? largest : effect;
        }
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        violations.add(Violation.of(rule, what, events));
    }
}
