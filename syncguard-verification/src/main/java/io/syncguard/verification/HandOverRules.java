package io.syncguard.verification;

import static io.syncguard.verification.HistoryEvent.NEVER;

import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Outcome;
import io.syncguard.verification.Violation.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What must hold for grants that releases handed over: to somebody who has a place and may be handed the key, and who believes in
 * it from before the grant.
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
        events.stream().filter(event -> event.is(Kind.HANDED_OVER)).forEach(this::toSomebody);
        long serverAhead = serverAhead();
        for (LeaseHistory lease : history.grants()) {
            if (lease.acquire().is(Kind.HANDED_OVER)) {
                toWhoMayBeHanded(lease);
                toWhoStillWaits(lease);
                forOnePlaceTtl(lease);
                confirmedBefore(lease, serverAhead);
                foundAsItWas(lease);
                byRelease(lease);
                usedOrGivenBack(lease);
            }
        }
    }

    /** By how many nanoseconds the server's clock is ahead of the monotonic one at least: what it did was done when it answered. */
    private long serverAhead() {
        return history.leases().values().stream()
                .flatMap(LeaseHistory::confirmedSettings)
                .filter(setting -> !setting.is(Kind.HANDED_OVER))
                .mapToLong(setting -> LeaseHistory.serverTime(setting) * MILLI - setting.end())
                .max()
                .orElse(Long.MIN_VALUE);
    }

    private void toSomebody(HistoryEvent news) {
        boolean hadPlace = history.leases().values().stream()
                .map(LeaseHistory::acquire)
                .anyMatch(grant -> grant.is(Kind.HANDED_OVER)
                        && grant.lease().fence() == news.lease().fence());
        if (!hadPlace) {
            report("a key was handed over to somebody who has no place", news);
        }
        if (news.outcome() != Outcome.OK) {
            report("a key was handed over to somebody who has to claim it", news);
        }
    }

    private void toWhoMayBeHanded(LeaseHistory lease) {
        HistoryEvent place = placeOf(lease);
        if (place.lease().shared()
                || place.lease().ttl() < processes.placeTtlOf(place.source().process())) {
            report("a key was handed over to somebody who has to claim it", place, lease.acquire());
        }
    }

    private void toWhoStillWaits(LeaseHistory lease) {
        lease.all(Kind.RELEASE, Outcome.LEFT)
                .filter(left -> placeOf(lease).outcome() == Outcome.QUEUED
                        && left.start() > placeOf(lease).end())
                .forEach(left -> report("a key was handed over to somebody who left", left, lease.acquire()));
    }

    /** The claim that took it, or kept it. */
    private static HistoryEvent placeOf(LeaseHistory lease) {
        return lease.all(Kind.ACQUIRE)
                .filter(claim -> claim.source().equals(lease.acquire().source()))
                .findFirst()
                .orElseThrow();
    }

    private void forOnePlaceTtl(LeaseHistory lease) {
        HistoryEvent grant = lease.acquire();
        long length = grant.lease().expiresAt() - grant.lease().acquiredAt();
        if (length != processes.placeTtlOf(grant.source().process())) {
            report("a first lease is " + length + " ms long", placeOf(lease), grant);
        }
    }

    /** Else the holder would believe in it for longer than the server keeps it. */
    private void confirmedBefore(LeaseHistory lease, long serverAhead) {
        HistoryEvent grant = lease.acquire();
        if (serverAhead != Long.MIN_VALUE
                && grant.start() + serverAhead
                        > (grant.lease().acquiredAt() + 1) * MILLI + LeaseHistory.INACCURACY_NANOS) {
            report(
                    "a place was confirmed by a request that was sent after it had become a grant",
                    placeOf(lease),
                    grant);
        }
    }

    private void foundAsItWas(LeaseHistory lease) {
        lease.all(Kind.EXTEND, Outcome.OK)
                .filter(claim -> claim.lease().fence() != 0
                        && claim.lease().acquiredAt() != lease.acquire().lease().acquiredAt())
                .forEach(claim -> report(
                        "the time of a grant changed when it was found", placeOf(lease), lease.acquire(), claim));
    }

    /** Not by one whose lease lapsed or was ended: by one of those before it, up to the last that was exclusive. */
    private void byRelease(LeaseHistory handed) {
        List<LeaseHistory> grants = history.grants();
        List<HistoryEvent> releases = new ArrayList<>();
        LeaseHistory before = handed;
        int i = grants.indexOf(handed);
        while (before.fence() > FIRST_FENCE && (before == handed || before.isShared())) {
            i--;
            if (i < 0 || grants.get(i).fence() != before.fence() - 1) {
                // By one of whom nothing is known.
                return;
            }
            before = grants.get(i);
            before.all(Kind.RELEASE)
                    .filter(release -> release.mayHaveHappened()
                            && release.start() <= handed.acquire().end())
                    .forEach(releases::add);
        }
        if (releases.isEmpty()) {
            report("a key was handed over that nobody released", before.acquire(), handed.acquire());
        } else if (releases.stream().allMatch(release -> release.start() > latestLapse(handed))) {
            report("a key was handed over to somebody whose place had lapsed", releases.get(0), handed.acquire());
        }
    }

    /** Of the place: it is kept for one place ttl by the claim and by whatever keeps it. */
    private long latestLapse(LeaseHistory handed) {
        return Stream.concat(Stream.of(placeOf(handed)), handed.all(Kind.KEEP))
                        .mapToLong(handed::latestEffect)
                        .max()
                        .orElseThrow()
                + processes.placeTtlOf(handed.acquire().source().process()) * MILLI
                + LeaseHistory.INACCURACY_NANOS;
    }

    private void usedOrGivenBack(LeaseHistory lease) {
        HistoryEvent grant = lease.acquire();
        String process = grant.source().process();
        boolean isTouched = history.claimedAnew().containsValue(lease)
                || lease.all(Kind.RELEASE).anyMatch(lease::isOwn)
                || lease.all(Kind.EXTEND).anyMatch(lease::isOwn)
                || lease.all(Kind.HELD).findAny().isPresent()
                || lease.all(Kind.LOSS_SEEN).findAny().isPresent()
                || lease.all(Kind.LOST).findAny().isPresent();
        if (!isTouched
                && processes.endOf(process, NEVER) - ProcessTimes.GRACE_NANOS > grant.end()
                && !processes.releasesWereStuck(process, grant.end(), grant.end() + ProcessTimes.GRACE_NANOS)) {
            report("nobody used a key that was handed over, or gave it back", placeOf(lease), grant);
        }
    }

    private void report(String what, HistoryEvent... events) {
        found.accept(Violation.of(Rule.HAND_OVER, what, events));
    }
}
