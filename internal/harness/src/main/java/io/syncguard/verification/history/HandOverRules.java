package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Rules for grants by hand-over: the waiter has a queue entry and accepts a hand-over, and its deadline counts from a
 * request before the grant.
 */
final class HandOverRules {

    private static final long MILLI = 1_000_000;
    private static final long FIRST_FENCE = 1;

    private final KeyHistory history;
    private final ProcessTimes processes;
    private final Consumer<Violation> found;

    HandOverRules(KeyHistory history, ProcessTimes processes, Consumer<Violation> found) {
        this.history = history;
        this.processes = processes;
        this.found = found;
    }

    void check(List<HistoryEvent> events) {
        events.stream().filter(event -> event.is(Kind.HANDED_OVER)).forEach(this::toWaiter);
        long serverAhead = serverAhead();
        for (LeaseHistory lease : history.grants()) {
            if (lease.acquire().is(Kind.HANDED_OVER)) {
                toWhoMayBeHanded(lease);
                toWhoStillWaits(lease);
                forOneWaiterTtl(lease);
                confirmedBefore(lease, serverAhead);
                foundNotEarlier(lease);
                byRelease(lease);
                usedOrReleased(lease);
            }
        }
    }

    /**
     * The smallest possible lead of the server's clock over the monotonic one, in nanoseconds: the server acts before
     * it answers.
     */
    private long serverAhead() {
        return history.leases().values().stream()
                .flatMap(LeaseHistory::confirmedSettings)
                .filter(setting -> !setting.is(Kind.HANDED_OVER))
                .mapToLong(setting -> ServerExpiry.timeOf(setting) * MILLI - setting.end())
                .max()
                .orElse(Long.MIN_VALUE);
    }

    private void toWaiter(HistoryEvent message) {
        boolean hadEntry = history.leases().values().stream()
                .map(LeaseHistory::acquire)
                .anyMatch(grant -> grant.is(Kind.HANDED_OVER)
                        && grant.lease().fence() == message.lease().fence());
        if (!hadEntry) {
            report("a key was handed over to a caller without a queue entry", message);
        }
        if (message.outcome() != Outcome.OK) {
            report("a key was handed over to a waiter that does not accept it", message);
        }
    }

    private void toWhoMayBeHanded(LeaseHistory lease) {
        HistoryEvent entry = queuedBy(lease);
        if (!entry.lease().mayBeHanded(processes.waiterTtlOf(entry.source().process()))) {
            report("a key was handed over to a waiter that does not accept it", entry, lease.acquire());
        }
    }

    private void toWhoStillWaits(LeaseHistory lease) {
        lease.all(Kind.RELEASE, Outcome.LEFT)
                .filter(left -> queuedBy(lease).outcome() == Outcome.QUEUED
                        && left.start() > queuedBy(lease).end())
                .forEach(left -> report("a key was handed over to a waiter that had left", left, lease.acquire()));
    }

    /** The acquire request that made or renewed the queue entry. */
    private static HistoryEvent queuedBy(LeaseHistory lease) {
        return lease.all(Kind.ACQUIRE)
                .filter(acquire -> acquire.source().equals(lease.acquire().source()))
                .findFirst()
                .orElseThrow();
    }

    private void forOneWaiterTtl(LeaseHistory lease) {
        HistoryEvent grant = lease.acquire();
        long length = grant.lease().expiresAt() - grant.lease().acquiredAt();
        if (length != processes.waiterTtlOf(grant.source().process())) {
            report("a first lease is " + length + " ms long", queuedBy(lease), grant);
        }
    }

    /** Otherwise the holder's deadline would be later than the end of the lease at the server. */
    private void confirmedBefore(LeaseHistory lease, long serverAhead) {
        HistoryEvent grant = lease.acquire();
        if (serverAhead != Long.MIN_VALUE
                && grant.start() + serverAhead
                        > (grant.lease().acquiredAt() + 1) * MILLI + LeaseHistory.INACCURACY_NANOS) {
            report(
                    "a queue entry was confirmed by a request that was sent after the hand-over",
                    queuedBy(lease),
                    grant);
        }
    }

    private void foundNotEarlier(LeaseHistory lease) {
        lease.all(Kind.EXTEND, Outcome.OK)
                .filter(acquire -> acquire.lease().fence() != 0
                        && acquire.lease().acquiredAt()
                                < lease.acquire().lease().acquiredAt())
                .forEach(acquire -> report(
                        "the time of a grant went back when it was found", queuedBy(lease), lease.acquire(), acquire));
    }

    /**
     * Only a release hands over, not a lapse or a deletion. It released one of the leases before this grant, back to
     * the last exclusive one.
     */
    private void byRelease(LeaseHistory handed) {
        List<LeaseHistory> grants = history.grants();
        List<HistoryEvent> late = new ArrayList<>();
        long lapse = latestLapse(handed);
        LeaseHistory before = handed;
        int i = grants.indexOf(handed);
        while (before.fence() > FIRST_FENCE && (before == handed || before.isShared())) {
            i--;
            if (i < 0 || grants.get(i).fence() != before.fence() - 1) {
                // The history has no release of that lease.
                return;
            }
            before = grants.get(i);
            List<HistoryEvent> releases = before.all(Kind.RELEASE)
                    .filter(release -> release.mayHaveHappened()
                            && release.start() <= handed.acquire().end())
                    .toList();
            if (releases.stream().anyMatch(release -> release.start() <= lapse)) {
                return;
            }
            late.addAll(releases);
        }
        if (late.isEmpty()) {
            report("a key was handed over without a release", before.acquire(), handed.acquire());
        } else {
            report("a key was handed over to a lapsed queue entry", late.get(0), handed.acquire());
        }
    }

    /** The latest lapse of the queue entry: one waiter ttl after the acquire request or the last renewal. */
    private long latestLapse(LeaseHistory handed) {
        return Stream.concat(Stream.of(queuedBy(handed)), handed.all(Kind.RENEW))
                        .mapToLong(handed::latestEffect)
                        .max()
                        .orElseThrow()
                + processes.waiterTtlOf(handed.acquire().source().process()) * MILLI
                + LeaseHistory.INACCURACY_NANOS;
    }

    private void usedOrReleased(LeaseHistory lease) {
        HistoryEvent grant = lease.acquire();
        String process = grant.source().process();
        boolean isTouched = history.acquiredAgain().containsValue(lease)
                || lease.all(Kind.RELEASE).anyMatch(lease::isOwn)
                || lease.all(Kind.EXTEND).anyMatch(lease::isOwn)
                || lease.all(Kind.HELD).findAny().isPresent()
                || lease.all(Kind.LOSS_SEEN).findAny().isPresent()
                || lease.all(Kind.LOST).findAny().isPresent();
        if (!isTouched
                && processes.endOf(process, NEVER) - ProcessTimes.GRACE_NANOS > grant.end()
                && !processes.releasesWereStuck(process, grant.end(), grant.end() + ProcessTimes.GRACE_NANOS)) {
            report("a key that was handed over was neither used nor released", queuedBy(lease), grant);
        }
    }

    private void report(String what, HistoryEvent... events) {
        found.accept(Violation.of(Rule.HAND_OVER, what, events));
    }
}
