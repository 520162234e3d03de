package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Rules for each lease, and for the leases after it.
 */
final class LeaseRules {

    /**
     * An extension checks the old end of the lease a moment before it reads the clock for the new one. On a busy server
     * the two are further apart.
     */
    private static final long BETWEEN_TWO_LOOKS_MILLIS = 250;

    private final ProcessTimes processes;
    private final Consumer<Violation> found;

    LeaseRules(ProcessTimes processes, Consumer<Violation> found) {
        this.processes = processes;
        this.found = found;
    }

    void check(LeaseHistory lease) {
        lease.all(Kind.HELD).forEach(held -> withinDeadline(lease, held));
        released(lease);
        certain(lease, Kind.EXTEND).forEach(extension -> {
            notAfterTheEnd(lease, extension);
            notRevived(lease, extension);
        });
        certain(lease, Kind.RELEASE).forEach(release -> {
            notAfterTheEnd(lease, release);
            notLapsed(lease, release);
        });
        certain(lease, Kind.LOOKUP).forEach(lookup -> {
            notAfterTheEnd(lease, lookup);
            notLapsed(lease, lookup);
            sameGrant(lease, lookup);
        });
        lease.all(Kind.RELEASE, Outcome.NOT_HELD).forEach(missed -> notMissed(lease, missed));
        lease.all(Kind.RELEASE, Outcome.LEFT).forEach(missed -> notMissed(lease, missed));
        lease.all(Kind.EXTEND, Outcome.NOT_HELD).forEach(missed -> notMissed(lease, missed));
        lease.all(Kind.LOOKUP, Outcome.NOT_HELD).forEach(missed -> notMissed(lease, missed));
        cleanedUp(lease);
        message(lease);
    }

    /** The events that succeeded and certainly belong to this grant of the lock id. */
    private static Stream<HistoryEvent> certain(LeaseHistory lease, Kind kind) {
        return lease.all(kind, Outcome.OK).filter(event -> !lease.mayBeAboutLateGrant(event));
    }

    /** A lookup must find a lease that is live during the whole lookup. */
    void notMissed(LeaseHistory lease, HistoryEvent missed) {
        if (lease.isLiveThroughout(missed)) {
            report(Rule.NOTHING_VANISHES, "a live lease was not found", lease.acquire(), missed);
        }
    }

    private void withinDeadline(LeaseHistory lease, HistoryEvent held) {
        if (held.start() + held.value() > lease.latestDeadline(held)) {
            report(
                    Rule.DEADLINE,
                    "a handle is held for longer than its ttl after the last confirmed request was sent",
                    lease.acquire(),
                    held);
        }
        if (held.start() > lease.takenAt() && !lease.wasTouchedByOthers()) {
            report(
                    Rule.DEADLINE,
                    "a handle is held after another holder was granted the key",
                    lease.acquire(),
                    lease.taker(),
                    held);
        }
        lease.all(Kind.HANDLE_RELEASED, Outcome.OK)
                .filter(end -> end.end() < held.start())
                .forEach(end -> report(Rule.DEADLINE, "a handle is held after it was released", end, held));
        lease.all(Kind.LOST)
                .filter(end -> end.start() < held.start())
                .forEach(end -> report(Rule.DEADLINE, "a handle is held after it was lost", end, held));
    }

    private void released(LeaseHistory lease) {
        for (Kind kind : List.of(Kind.RELEASE, Kind.HANDLE_RELEASED)) {
            HistoryEvent[] released = certain(lease, kind).toArray(HistoryEvent[]::new);
            if (released.length > 1) {
                report(Rule.RELEASED_ONCE, "one lease was released " + released.length + " times", released);
            }
        }
    }

    private void notAfterTheEnd(LeaseHistory lease, HistoryEvent event) {
        Rule rule = event.is(Kind.LOOKUP) ? Rule.RELEASED_ONCE : Rule.OVER_IS_OVER;
        lease.all(Kind.RELEASE, Outcome.OK)
                .filter(release -> release != event && release.end() < event.start())
                .forEach(release -> report(rule, "a lease lives after its release", release, event));
        lease.all(Kind.ENDED, Outcome.OK)
                .filter(ended -> ended.end() < event.start())
                .forEach(ended -> report(Rule.OVER_IS_OVER, "a lease lives after it was ended", ended, event));
        if (event.start() > lease.takenAt()) {
            report(
                    Rule.OVER_IS_OVER,
                    "a lease lives after a larger fence was granted",
                    lease.acquire(),
                    lease.taker(),
                    event);
        }
    }

    private void notRevived(LeaseHistory lease, HistoryEvent extension) {
        long end = lease.onServer().endBefore(extension);
        long at = ServerExpiry.timeOf(extension);
        if (end != NEVER && at >= end + LeaseHistory.TOLERANCE_MILLIS + BETWEEN_TWO_LOOKS_MILLIS) {
            report(
                    Rule.OVER_IS_OVER,
                    "a lease was revived " + (at - end) + " ms after its end",
                    lease.acquire(),
                    extension);
        }
    }

    private void notLapsed(LeaseHistory lease, HistoryEvent event) {
        if (event.start() > lease.latestLapse(event.end())) {
            report(Rule.OVER_IS_OVER, "a lease lives after it had lapsed", lease.acquire(), event);
        }
    }

    private void sameGrant(LeaseHistory lease, HistoryEvent lookup) {
        boolean same = !lease.isGranted()
                || lookup.lease().equals(Lease.NONE)
                || lookup.lease().fence() == lease.fence()
                        && lookup.lease().shared() == lease.isShared()
                        && isTimeOfGrant(lease, lookup);
        if (!same) {
            report(Rule.SAME_GRANT, "fence or time of a grant changed", lease.acquire(), lookup);
        }
    }

    /** Each request of an acquisition that reaches the server after the grant changes the time of the grant. */
    private static boolean isTimeOfGrant(LeaseHistory lease, HistoryEvent lookup) {
        HistoryEvent acquire = lease.acquire();
        long granted = acquire.lease().acquiredAt();
        long found = lookup.lease().acquiredAt();
        return found == granted
                || lease.wasRequestedRepeatedly() && (found > granted || lookup.start() <= acquire.end());
    }

    private void cleanedUp(LeaseHistory lease) {
        HistoryEvent acquire = lease.acquire();
        if (acquire.is(Kind.ACQUIRE, Outcome.UNKNOWN)
                && acquire.end() != NEVER
                && outlived(acquire)
                && lease.all(Kind.RELEASE).noneMatch(lease::isOwn)
                && !processes.releasesWereStuck(
                        acquire.source().process(), acquire.end(), acquire.end() + ProcessTimes.GRACE_NANOS)) {
            report(Rule.NOTHING_LEAKS, "an acquire of unknown outcome was not released by its id", acquire);
        }
    }

    private void message(LeaseHistory lease) {
        Map<String, List<HistoryEvent>> message = lease.all(Kind.LOST)
                .collect(Collectors.groupingBy(event -> event.source().client()));
        message.values().stream()
                .filter(events -> events.size() > 1)
                .forEach(events -> report(
                        Rule.LOSS_REPORTED_ONCE,
                        "one loss was reported " + events.size() + " times",
                        events.toArray(HistoryEvent[]::new)));
        lease.all(Kind.HANDLE_RELEASED, Outcome.OK)
                .forEach(given -> lease.all(Kind.LOST)
                        .forEach(lost -> report(
                                Rule.LOSS_REPORTED_ONCE,
                                "a loss was reported of a lease whose handle was released",
                                given,
                                lost)));
        lease.all(Kind.LOSS_SEEN)
                .filter(seen -> message.isEmpty() && outlived(seen))
                .findFirst()
                .ifPresent(seen -> report(Rule.LOSS_REPORTED_ONCE, "a loss was never reported", lease.acquire(), seen));
    }

    private boolean outlived(HistoryEvent event) {
        return processes.endOf(event.source().process(), NEVER) - ProcessTimes.GRACE_NANOS > event.end();
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        found.accept(Violation.of(rule, what, events));
    }
}
