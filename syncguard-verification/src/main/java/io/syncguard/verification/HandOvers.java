package io.syncguard.verification;

import static io.syncguard.verification.HistoryEvent.NEVER;

import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Lease;
import io.syncguard.verification.HistoryEvent.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds the hand-overs to the queue entries of one lock id, and adds each to the history like an acquire request: sent
 * when the entry was last confirmed, answered when the message arrived.
 *
 * <ul>
 *   <li>The message of a hand-over is a grant to the queue entry that the acquire request with its number made or
 *   renewed.
 *   <li>If the answer to an acquire request is a grant older than the request, the key was handed over before, and the
 *   request extended the lease.
 *   <li>A queue entry may have become a grant without a message, unless the history proves that it did not.
 * </ul>
 *
 * <p>A waiter that receives a hand-over too late queues again under the same lock id. So one lock id may have several
 * grants, and the holder uses the last.
 */
final class HandOvers {

    private static final long MILLI = 1_000_000;

    private final List<HistoryEvent> acquires;
    private final List<HistoryEvent> messages;
    private final List<HistoryEvent> others;
    private final ProcessTimes processes;

    private HandOvers(List<HistoryEvent> ofLock, ProcessTimes processes) {
        // A request that was never sent has no effect.
        this.acquires = sorted(ofLock, Kind.ACQUIRE).stream()
                .filter(acquire -> acquire.outcome() != Outcome.FAILED)
                .toList();
        this.messages = sorted(ofLock, Kind.HANDED_OVER);
        this.others = ofLock.stream()
                .filter(event -> !event.is(Kind.ACQUIRE) && !event.is(Kind.HANDED_OVER))
                .toList();
        this.processes = processes;
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
     * @param arrivedAt the earliest possible arrival: when the first acquire request that may have made the entry was
     *     sent
     * @param claimedAgainAt when the request for the next grant was sent; {@link HistoryEvent#NEVER} in the last part
     */
    record Part(List<HistoryEvent> events, long arrivedAt, long nextSentAt) {}

    /** The events of one lock id by its grants, in their order. */
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
            HistoryEvent grant = grant(acquire, next);
            if (grant == null) {
                continue;
            }
            part.add(grant);
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
            boolean isOfAnother = showsFenceOf(event, next)
                    || event.lease().fence() != 0 && fence != 0 && event.lease().fence() != fence;
            if (ends && (overlaps(event, first) || overlaps(event, next))) {
                part.add(event.answered(event.end(), Outcome.UNKNOWN));
            } else if ((first == null
                            || event.start() >= latestEffect(first)
                            || (event.is(Kind.RENEW) || showsFenceOf(event, first)) && overlaps(event, first))
                    && (next == null || event.start() < latestEffect(next) && !isOfAnother)) {
                part.add(event);
            }
        }
    }

    private static boolean showsFenceOf(HistoryEvent event, HistoryEvent acquire) {
        return acquire != null
                && event.lease().fence() != 0
                && event.lease().fence() == acquire.lease().fence();
    }

    private static boolean overlaps(HistoryEvent event, HistoryEvent acquire) {
        return acquire != null && event.end() >= acquire.start() && event.start() <= latestEffect(acquire);
    }

    private static long latestEffect(HistoryEvent acquire) {
        return acquire.outcome() == Outcome.UNKNOWN ? NEVER : acquire.end();
    }

    private HistoryEvent grant(HistoryEvent acquire, HistoryEvent next) {
        if (acquire.outcome() != Outcome.QUEUED && acquire.outcome() != Outcome.UNKNOWN) {
            return null;
        }
        HistoryEvent message = messages.stream()
                .filter(event -> event.value() == acquire.source().number())
                .findFirst()
                .orElse(null);
        if (message != null) {
            return grant(
                    acquire, confirmedAt(acquire, next, message.start()), message.end(), Outcome.OK, message.lease());
        }
        if (acquire.outcome() == Outcome.UNKNOWN) {
            return null;
        }
        long waiterTtl = processes.waiterTtlOf(acquire.source().process());
        if (next != null && wasThereBefore(next)) {
            long at = next.lease().acquiredAt();
            Lease first = new Lease(next.lease().fence(), waiterTtl, at, at + waiterTtl, false);
            return grant(acquire, confirmedAt(acquire, next, NEVER), next.end(), Outcome.OK, first);
        }
        return mayHaveBeenHanded(acquire, next)
                ? grant(acquire, acquire.start(), lastSeen(acquire, next), Outcome.UNKNOWN, Lease.ofTtl(waiterTtl))
                : null;
    }

    private static HistoryEvent grant(HistoryEvent acquire, long sentAt, long end, Outcome outcome, Lease lease) {
        return new HistoryEvent(
                Kind.HANDED_OVER,
                acquire.source(),
                acquire.key(),
                acquire.lock(),
                sentAt,
                end,
                outcome,
                lease,
                acquire.source().number());
    }

    /** A granted lease lasts the requested ttl from the time of the answer, so an older grant was extended. */
    private static boolean wasThereBefore(HistoryEvent acquire) {
        return acquire.outcome() == Outcome.OK
                && LeaseHistory.serverTime(acquire) > acquire.lease().acquiredAt();
    }

    private static boolean isSame(HistoryEvent grant, HistoryEvent next) {
        return next.outcome() == Outcome.OK
                && grant.outcome() == Outcome.OK
                && next.lease().fence() == grant.lease().fence();
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

    /** When the last request was sent that confirmed the queue entry. */
    private long confirmedAt(HistoryEvent acquire, HistoryEvent next, long before) {
        return confirmations(acquire, next)
                .filter(renew -> renew.start() < before)
                .mapToLong(HistoryEvent::start)
                .reduce(acquire.start(), Math::max);
    }

    private Stream<HistoryEvent> confirmations(HistoryEvent acquire, HistoryEvent next) {
        return during(acquire, next).filter(event -> event.is(Kind.RENEW, Outcome.OK));
    }

    private Stream<HistoryEvent> during(HistoryEvent acquire, HistoryEvent next) {
        return others.stream()
                .filter(event -> event.end() >= acquire.start() && (next == null || event.start() <= next.end()));
    }

    /**
     * A later answered request would have found the grant, unless its first lease had lapsed or another client had
     * ended it.
     */
    private boolean mayHaveBeenHanded(HistoryEvent acquire, HistoryEvent next) {
        long waiterTtl = processes.waiterTtlOf(acquire.source().process());
        if (acquire.lease().shared() || acquire.lease().ttl() < waiterTtl) {
            return false;
        }
        long longest = (waiterTtl + LeaseHistory.TOLERANCE_MILLIS) * MILLI - LeaseHistory.INACCURACY_NANOS;
        return next != null && next.outcome() == Outcome.UNKNOWN
                || during(acquire, next).anyMatch(event -> showsLease(event, next))
                || lastSeen(acquire, next) == NEVER
                || lastSeen(acquire, next) - confirmedAt(acquire, next, NEVER) > longest;
    }

    private static boolean showsLease(HistoryEvent event, HistoryEvent next) {
        return event.is(Kind.ENDED)
                || event.is(Kind.PINNED)
                || event.is(Kind.LOOKUP, Outcome.OK) && !showsFenceOf(event, next)
                || (event.is(Kind.RELEASE) || event.is(Kind.EXTEND))
                        && (event.mayHaveHappened() || event.outcome() == Outcome.BUSY);
    }

    /** When the next request for the queue entry was sent, or when the waiter left. */
    private long lastSeen(HistoryEvent acquire, HistoryEvent next) {
        long left = during(acquire, next)
                .filter(event -> event.is(Kind.RELEASE, Outcome.LEFT) || event.is(Kind.RELEASE, Outcome.NOT_HELD))
                .mapToLong(HistoryEvent::end)
                .min()
                .orElse(NEVER);
        return next == null ? left : Math.min(left, next.end());
    }
}
