package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Divides the events of one lock id by its grants, including the hand-overs that {@link HandOverFinder} finds.
 *
 * <p>A waiter that receives a hand-over too late queues again under the same lock id. So one lock id may have several
 * grants, and the holder uses the last.
 */
final class HandOvers {

    private final List<HistoryEvent> acquires;
    private final List<HistoryEvent> others;
    private final HandOverFinder finder;

    private HandOvers(List<HistoryEvent> ofLock, ProcessTimes processes) {
        // A request that was never sent has no effect.
        this.acquires = sorted(ofLock, Kind.ACQUIRE).stream()
                .filter(acquire -> acquire.outcome() != Outcome.FAILED)
                .toList();
        this.others = ofLock.stream()
                .filter(event -> !event.is(Kind.ACQUIRE) && !event.is(Kind.HANDED_OVER))
                .toList();
        this.finder = new HandOverFinder(sorted(ofLock, Kind.HANDED_OVER), others, processes);
    }

    private static List<HistoryEvent> sorted(List<HistoryEvent> events, Kind kind) {
        return events.stream()
                .filter(event -> event.is(kind))
                .sorted(Comparator.comparingLong(HistoryEvent::start))
                .toList();
    }

    /**
     * The events of one grant, or of an acquisition without a grant.
     *
     * @param arrivedAt the earliest possible arrival: the send time of the first acquire request that may have made the
     *     entry
     * @param nextSentAt the send time of the request for the next grant; {@link HistoryEvent#NEVER} in the last part
     */
    record Part(List<HistoryEvent> events, long arrivedAt, long nextSentAt) {}

    /** Divides the events of one lock id by its grants, in their order. */
    static List<Part> parts(List<HistoryEvent> ofLock, ProcessTimes processes) {
        return new HandOvers(ofLock, processes).parts();
    }

    private List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        List<HistoryEvent> part = new ArrayList<>();
        HistoryEvent first = null;
        long arrivedAt = acquires.isEmpty() ? 0 : acquires.get(0).start();
        for (int i = 0; i < acquires.size(); i++) {
            HistoryEvent acquire = acquires.get(i);
            HistoryEvent next = i + 1 < acquires.size() ? acquires.get(i + 1) : null;
            part.add(acquire);
            HistoryEvent grant = finder.grant(acquire, next);
            if (grant == null) {
                continue;
            }
            part.add(grant);
            if (grant.is(Kind.HANDED_OVER) && acquire.outcome() == Outcome.UNKNOWN) {
                part.add(givenBack(acquire));
            }
            if (next != null && isSame(grant, next)) {
                part.add(extension(next));
                i++;
            } else if (next != null) {
                if (next.outcome() == Outcome.UNKNOWN) {
                    part.add(extension(next));
                }
                addOthers(part, first, next);
                parts.add(new Part(part, arrivedAt, next.start()));
                part = new ArrayList<>();
                first = next;
                arrivedAt = grant.outcome() == Outcome.OK ? next.start() : arrivedAt;
            }
        }
        addOthers(part, first, null);
        parts.add(new Part(part, arrivedAt, NEVER));
        return parts;
    }

    /** An event that overlaps the first request of a part may belong to this part or to the one before. */
    private void addOthers(List<HistoryEvent> part, HistoryEvent first, HistoryEvent next) {
        long fence = part.stream()
                .filter(event -> event.is(Kind.HANDED_OVER, Outcome.OK))
                .mapToLong(event -> event.lease().fence())
                .findFirst()
                .orElse(0);
        for (HistoryEvent event : others) {
            boolean ends = event.is(Kind.RELEASE) || event.is(Kind.ENDED);
            boolean isOfAnother = HandOverFinder.showsFenceOf(event, next)
                    || event.lease().fence() != 0 && fence != 0 && event.lease().fence() != fence;
            if (ends && (overlaps(event, first) || overlaps(event, next))) {
                part.add(event.answered(event.end(), Outcome.UNKNOWN));
            } else if ((first == null
                            || event.start() >= latestEffect(first)
                            || (event.is(Kind.RENEW) || HandOverFinder.showsFenceOf(event, first))
                                    && overlaps(event, first))
                    && (next == null || event.start() < latestEffect(next) && !isOfAnother)) {
                part.add(event);
            }
        }
    }

    private boolean overlaps(HistoryEvent event, HistoryEvent acquire) {
        return acquire != null && event.end() >= acquire.start() && event.start() <= latestEffect(acquire);
    }

    /** After a request without an answer the caller sends another one, whose answer is valid for both. */
    private long latestEffect(HistoryEvent acquire) {
        return acquires.stream()
                .filter(each -> each.start() >= acquire.start() && each.outcome() != Outcome.UNKNOWN)
                .mapToLong(HistoryEvent::end)
                .findFirst()
                .orElse(NEVER);
    }

    private static boolean isSame(HistoryEvent grant, HistoryEvent next) {
        return next.outcome() == Outcome.OK
                && grant.outcome() == Outcome.OK
                && next.lease().fence() == grant.lease().fence();
    }

    /** If a caller has left, the store may give the grant back itself, without an event. */
    private static HistoryEvent givenBack(HistoryEvent acquire) {
        return new HistoryEvent(
                Kind.RELEASE,
                acquire.source(),
                acquire.key(),
                acquire.lock(),
                acquire.start(),
                NEVER,
                Outcome.UNKNOWN,
                HistoryEvent.Lease.NONE,
                0);
    }

    private static HistoryEvent extension(HistoryEvent acquire) {
        return new HistoryEvent(
                Kind.EXTEND,
                acquire.source(),
                acquire.key(),
                acquire.lock(),
                acquire.start(),
                acquire.end(),
                acquire.outcome(),
                acquire.lease(),
                acquire.value());
    }
}
