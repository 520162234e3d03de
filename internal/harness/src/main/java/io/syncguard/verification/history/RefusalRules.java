package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Each refusal and each wait needs a reason: a conflicting lease that may be live, a row that may be locked, or a
 * conflicting waiter that may be in front.
 */
final class RefusalRules {

    /** The leases, rows and entries that may conflict with shared requests; below, with exclusive ones. */
    private final Obstacles ofReaders = new Obstacles();

    private final Obstacles ofWriters = new Obstacles();

    /** The shared leases and entries that may use up permits. */
    private final Stretches shared = new Stretches();

    private final Collection<LeaseHistory> leases;
    private final Consumer<Violation> found;

    RefusalRules(
            Map<String, LeaseHistory> leases,
            Collection<QueueEntryHistory> requests,
            List<HistoryEvent> events,
            Consumer<Violation> found) {
        this.leases = leases.values();
        this.found = found;
        leases.forEach((lock, lease) ->
                addLease(lease.isShared(), lock, lease.acquire().start(), lease.latestEnd()));
        for (HistoryEvent event : events) {
            // A lapsed row still conflicts while it is locked, and an extension locks before it checks.
            if (event.is(Kind.PINNING) || event.is(Kind.SWEPT) || event.is(Kind.EXTEND)) {
                LeaseHistory lease = leases.get(event.lock());
                addLease(
                        lease != null && lease.isShared(),
                        event.lock(),
                        event.start(),
                        lease == null ? event.end() : lease.latestEffect(event));
            }
        }
        for (QueueEntryHistory request : requests) {
            if (!request.isShared() || request.permits() > 0) {
                ofReaders.waiters.add(request.lock(), request.sentAt(), request.latestEnd());
            }
            ofWriters.waiters.add(request.lock(), request.sentAt(), request.latestEnd());
        }
        ofReaders.close();
        ofWriters.close();
        shared.close();
    }

    private void addLease(boolean shared, String lock, long from, long to) {
        if (!shared) {
            ofReaders.leases.add(lock, from, to);
        } else {
            this.shared.add(lock, from, to);
        }
        ofWriters.leases.add(lock, from, to);
    }

    void check(Collection<QueueEntryHistory> requests) {
        for (QueueEntryHistory request : requests) {
            request.acquires().stream()
                    .filter(acquire -> acquire.outcome() == Outcome.REFUSED || acquire.outcome() == Outcome.QUEUED)
                    .filter(acquire -> !mayBeSwept(acquire))
                    .forEach(acquire -> justified(request, acquire));
        }
    }

    private void justified(QueueEntryHistory request, HistoryEvent refusal) {
        long arrival = latestArrival(request, refusal);
        if (request.permits() > 0) {
            hasNoRoom(request.permits(), refusal, arrival);
        } else if (!request.isShared() && !ofWriters.mayStop(refusal, arrival)) {
            found.accept(Violation.of(
                    Rule.JUSTIFIED_REFUSAL, "the key was free, without waiters and without a locked row", refusal));
        } else if (request.isShared() && !ofReaders.mayStop(refusal, arrival)) {
            boolean readers = ofWriters.mayStop(refusal, arrival);
            found.accept(Violation.of(
                    readers ? Rule.NEIGHBOURS : Rule.JUSTIFIED_REFUSAL,
                    readers
                            ? "only readers conflicted with a reader"
                            : "the key was free, without waiters and without a locked row",
                    refusal));
        }
    }

    private void hasNoRoom(int permits, HistoryEvent refusal, long arrival) {
        if (!ofReaders.leases.mayStop(refusal, refusal.end())
                && !ofWriters.waiters.mayStop(refusal, arrival)
                && !shared.mayUse(permits, refusal)) {
            found.accept(Violation.of(
                    Rule.JUSTIFIED_REFUSAL, "one of " + permits + " permits was free, without waiters", refusal));
        }
    }

    /** The latest possible arrival. A caller whose first request was sent later is behind. */
    private static long latestArrival(QueueEntryHistory request, HistoryEvent refusal) {
        return request.stays().stream()
                .filter(stay -> stay.from() < refusal.start() && refusal.end() < stay.until())
                .mapToLong(QueueEntryHistory.Stay::from)
                .findFirst()
                .orElse(refusal.end());
    }

    /**
     * Whether the library's sweeper may be the reason: it writes no history and may lock a lapsed row. Such a refusal
     * has less than 100 ms left.
     */
    private boolean mayBeSwept(HistoryEvent refusal) {
        return refusal.value() < 100
                && leases.stream()
                        .filter(lease -> lease.acquire().start() < refusal.start())
                        .anyMatch(lease -> lease.takenAt() > refusal.start()
                                && lease.all(Kind.RELEASE, Outcome.OK).findAny().isEmpty()
                                && lease.latestLapse(HistoryEvent.NEVER) + 1_000_000_000L < refusal.start());
    }

    private static final class Obstacles {

        final Stretches leases = new Stretches();
        final Stretches waiters = new Stretches();

        void close() {
            leases.close();
            waiters.close();
        }

        boolean mayStop(HistoryEvent refusal, long arrival) {
            return leases.mayStop(refusal, refusal.end()) || waiters.mayStop(refusal, arrival);
        }
    }

    /** Periods of time, each of one lock. */
    private static final class Stretches {

        private final List<Stretch> stretches = new ArrayList<>();

        /** By start: the latest ends of all periods that began by then. */
        private final TreeMap<Long, LatestEnds> byStart = new TreeMap<>();

        private record Stretch(String lock, long from, long to) {}

        /** The latest end, and the latest end of all other locks. */
        private record LatestEnds(String lock, long end, long endOfOthers) {

            LatestEnds with(Stretch stretch) {
                if (stretch.lock.equals(lock)) {
                    return new LatestEnds(lock, Math.max(end, stretch.to), endOfOthers);
                }
                return stretch.to > end
                        ? new LatestEnds(stretch.lock, stretch.to, end)
                        : new LatestEnds(lock, end, Math.max(endOfOthers, stretch.to));
            }
        }

        void add(String lock, long from, long to) {
            stretches.add(new Stretch(lock, from, to));
        }

        /** Called after the last period was added. */
        void close() {
            stretches.sort(Comparator.comparingLong(Stretch::from));
            LatestEnds latest = new LatestEnds("", Long.MIN_VALUE, Long.MIN_VALUE);
            for (Stretch stretch : stretches) {
                latest = latest.with(stretch);
                byStart.put(stretch.from, latest);
            }
        }

        /** Whether a period of another lock began by then and may have lasted until the refusal. */
        boolean mayStop(HistoryEvent refusal, long arrival) {
            return latestEndOfOthers(refusal.lock(), Math.min(arrival, refusal.end())) >= refusal.start();
        }

        /** Whether this number of other locks may have had a period at the time of the refusal. */
        boolean mayUse(int permits, HistoryEvent refusal) {
            return stretches.stream()
                            .filter(each -> each.from <= refusal.end()
                                    && each.to >= refusal.start()
                                    && !each.lock.equals(refusal.lock()))
                            .map(Stretch::lock)
                            .distinct()
                            .limit(permits)
                            .count()
                    >= permits;
        }

        /** The latest end of the periods that began by then and belong to other locks. */
        private long latestEndOfOthers(String lock, long startedBy) {
            Map.Entry<Long, LatestEnds> entry = byStart.floorEntry(startedBy);
            if (entry == null) {
                return Long.MIN_VALUE;
            }
            LatestEnds latest = entry.getValue();
            return latest.lock.equals(lock) ? latest.endOfOthers : latest.end;
        }
    }
}
