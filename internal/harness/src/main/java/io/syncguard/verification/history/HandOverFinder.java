package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds the hand-overs to the queue entries of one lock id, and describes each like an acquire request: sent when the
 * entry was last confirmed, answered when the message arrived.
 *
 * <ul>
 *   <li>The message of a hand-over is a grant to the queue entry that the acquire request with its number made or
 *   renewed.
 *   <li>If a lookup found the grant of an acquire request at an earlier time, the key was handed over then, and the
 *   request renewed the lease.
 *   <li>A queue entry may have become a grant without a message, unless the history proves that it did not.
 * </ul>
 */
final class HandOverFinder {

    private static final long MILLI = 1_000_000;

    private final List<HistoryEvent> messages;
    private final List<HistoryEvent> others;
    private final ProcessTimes processes;

    /**
     * @param messages the hand-overs to the lock id
     * @param others the other events of the lock id, without acquire requests
     */
    HandOverFinder(List<HistoryEvent> messages, List<HistoryEvent> others, ProcessTimes processes) {
        this.messages = messages;
        this.others = others;
        this.processes = processes;
    }

    /**
     * Returns the hand-over to the queue entry of the acquire request, or null.
     *
     * @param next the next acquire request of the lock id, or null
     */
    HistoryEvent grant(HistoryEvent acquire, HistoryEvent next) {
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
        if (!acquire.lease().mayBeHanded(waiterTtl)) {
            return null;
        }
        long at = seenBefore(next);
        if (at != NEVER) {
            Lease first = new Lease(next.lease().fence(), waiterTtl, at, at + waiterTtl, false);
            return grant(acquire, confirmedAt(acquire, next, NEVER), next.end(), Outcome.OK, first);
        }
        return mayHaveBeenHanded(acquire, next, waiterTtl)
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
                lease.as(acquire.lease()),
                acquire.source().number());
    }

    /**
     * The earlier time at which the queue entry was granted the lease that the acquire request then got, as a lookup
     * found it; {@link HistoryEvent#NEVER} if none did. The request changes the time of the grant.
     */
    private long seenBefore(HistoryEvent acquire) {
        return others.stream()
                .filter(event -> event.is(Kind.LOOKUP, Outcome.OK)
                        && showsFenceOf(event, acquire)
                        && event.start() < acquire.end())
                .mapToLong(event -> event.lease().acquiredAt())
                .filter(at -> at < acquire.lease().acquiredAt())
                .min()
                .orElse(NEVER);
    }

    /** The send time of the last request that confirmed the queue entry. */
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
     * Whether the entry may have become a grant. A later answered request would have found the grant, unless its first
     * lease had lapsed or another client had ended it.
     */
    private boolean mayHaveBeenHanded(HistoryEvent acquire, HistoryEvent next, long waiterTtl) {
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

    /** The time at which the next request for the queue entry was sent, or at which the waiter left. */
    private long lastSeen(HistoryEvent acquire, HistoryEvent next) {
        long left = during(acquire, next)
                .filter(event -> event.is(Kind.RELEASE, Outcome.LEFT) || event.is(Kind.RELEASE, Outcome.NOT_HELD))
                .mapToLong(HistoryEvent::end)
                .min()
                .orElse(NEVER);
        return next == null ? left : Math.min(left, next.end());
    }

    /** Whether the event shows the fence that the acquire request was granted; the request may be null. */
    static boolean showsFenceOf(HistoryEvent event, HistoryEvent acquire) {
        return acquire != null
                && event.lease().fence() != 0
                && event.lease().fence() == acquire.lease().fence();
    }
}
