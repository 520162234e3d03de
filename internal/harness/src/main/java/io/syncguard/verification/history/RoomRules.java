package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Each grant waits for the last exclusive lease before it; an exclusive one also for all shared leases since then, and
 * one with permits for all but fewer than its number of them.
 */
final class RoomRules {

    private final List<LeaseHistory> grants;
    private final Consumer<Violation> found;

    /** The shared leases before a grant that are not certainly over, or the exclusive one. */
    private final List<LeaseHistory> before = new ArrayList<>();

    /** @param grants in the order of their fences */
    RoomRules(List<LeaseHistory> grants, Consumer<Violation> found) {
        this.grants = grants;
        this.found = found;
    }

    void check() {
        for (LeaseHistory next : grants) {
            before.stream().filter(next::conflictsWith).forEach(lease -> waits(lease, next.acquire()));
            if (next.permits() > 0) {
                hasRoom(next);
            }
            before.removeIf(lease -> !next.isShared() || isOver(lease, next.acquire()));
            before.add(next);
        }
    }

    private void waits(LeaseHistory lease, HistoryEvent next) {
        long missing = missing(lease, next);
        if (missing > 0) {
            report(
                    Rule.ONE_LIVE_GRANT,
                    "a key was granted " + missing + " ms before the lease before it had lapsed",
                    lease.acquire(),
                    next);
        }
    }

    private void hasRoom(LeaseHistory next) {
        HistoryEvent[] there = before.stream()
                .filter(lease -> lease.isShared()
                        && (missing(lease, next.acquire()) > 0 || isPinnedThroughout(lease, next.acquire())))
                .map(LeaseHistory::acquire)
                .toArray(HistoryEvent[]::new);
        if (there.length >= next.permits()) {
            report(
                    Rule.PERMITS,
                    "one of " + next.permits() + " permits was granted beside " + there.length + " shared leases",
                    Stream.concat(Arrays.stream(there), Stream.of(next.acquire()))
                            .toArray(HistoryEvent[]::new));
        }
    }

    /** For so many milliseconds the lease was certainly live after the grant; none if it may have ended before. */
    private static long missing(LeaseHistory lease, HistoryEvent next) {
        boolean mayBeOver = lease.all(Kind.RELEASE).anyMatch(end -> mayBeBefore(end, next))
                || lease.all(Kind.ENDED).anyMatch(end -> mayBeBefore(end, next));
        return mayBeOver
                ? 0
                : lease.onServer().earliestEnd(next)
                        + LeaseHistory.TOLERANCE_MILLIS
                        - next.lease().acquiredAt();
    }

    private static boolean mayBeBefore(HistoryEvent end, HistoryEvent grant) {
        return end.mayHaveHappened() && end.start() <= grant.end();
    }

    private static boolean isPinnedThroughout(LeaseHistory lease, HistoryEvent grant) {
        return lease.all(Kind.PINNED).anyMatch(pin -> pin.start() < grant.start() && grant.end() < pin.end());
    }

    /** Then it is over for all later grants, too. */
    private static boolean isOver(LeaseHistory lease, HistoryEvent grant) {
        return lease.all(Kind.RELEASE, Outcome.OK).anyMatch(end -> end.end() < grant.start());
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        found.accept(Violation.of(rule, what, events));
    }
}
