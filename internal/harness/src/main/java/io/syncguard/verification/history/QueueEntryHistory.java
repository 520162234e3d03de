package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The queue entry of one lock id: when it certainly existed, and when it may have existed. Times are nanoseconds of the
 * monotonic clock.
 */
final class QueueEntryHistory {

    private final String lock;
    private final HandOvers.Part part;
    private final List<HistoryEvent> acquires;
    private final List<HistoryEvent> events;
    private final ProcessTimes processes;

    /** How long the queue entry lives unless it is renewed. */
    private final long ttl;

    /**
     * @param part the events of one grant, with at least one acquire request; a hand-over counts as a granted request
     */
    QueueEntryHistory(String lock, HandOvers.Part part, ProcessTimes processes) {
        this.lock = lock;
        this.part = part;
        this.events = part.events().stream()
                .sorted(Comparator.comparingLong(HistoryEvent::start))
                .toList();
        this.acquires = this.events.stream()
                .filter(event -> event.is(Kind.ACQUIRE) || event.is(Kind.HANDED_OVER))
                .toList();
        this.processes = processes;
        this.ttl = processes.waiterTtlOf(acquires.get(0).source().process()) * 1_000_000;
    }

    /** A time in which the queue entry certainly existed. It begins with the answer that confirmed the entry. */
    record Stay(QueueEntryHistory entry, HistoryEvent queued, long until) {

        long from() {
            return queued.end();
        }
    }

    String lock() {
        return lock;
    }

    boolean isShared() {
        return acquires.get(0).lease().shared();
    }

    int permits() {
        return acquires.get(0).lease().permits();
    }

    /** Whether the later of the two entries waits for the earlier one. */
    boolean conflictsWith(QueueEntryHistory other) {
        return acquires.get(0).lease().waitsFor(other.acquires.get(0).lease());
    }

    /** The send time of the first request that may have made the entry: the earliest possible arrival. */
    long sentAt() {
        return part.arrivedAt();
    }

    List<HistoryEvent> acquires() {
        return acquires;
    }

    Stream<HistoryEvent> all(Kind kind) {
        return events.stream().filter(event -> event.is(kind));
    }

    /** The fence of its grant, {@link HistoryEvent#NEVER} if there is none. */
    long fence() {
        return acquires.stream()
                .filter(acquire -> acquire.outcome() == Outcome.OK)
                .mapToLong(acquire -> acquire.lease().fence())
                .findFirst()
                .orElse(NEVER);
    }

    /** The times in which the entry certainly existed. This ignores that a grant ends it as well. */
    List<Stay> stays() {
        long end = events.stream()
                .filter(QueueEntryHistory::mayEnd)
                .mapToLong(HistoryEvent::start)
                .reduce(Math.min(part.nextSentAt(), mayBeHandedAt()), Math::min);
        List<Stay> stays = new ArrayList<>();
        HistoryEvent queued = null;
        long until = 0;
        for (HistoryEvent event : events) {
            if (!confirms(event)) {
                continue;
            }
            if (queued != null && event.end() < until) {
                until = Math.max(until, renewedUntil(event));
            } else if (event.is(Kind.ACQUIRE)) {
                add(stays, queued, Math.min(until, end));
                queued = event;
                until = renewedUntil(event);
            }
        }
        add(stays, queued, Math.min(until, end));
        return stays;
    }

    /**
     * From when on it may have become a shared lease without a message, beside which others were granted:
     * {@link HistoryEvent#NEVER} if it did not. A last answer confirmed the entry.
     */
    private long mayBeHandedAt() {
        boolean mayBeHanded = isShared() && all(Kind.HANDED_OVER).anyMatch(grant -> grant.outcome() == Outcome.UNKNOWN);
        return mayBeHanded
                ? events.stream()
                        .filter(QueueEntryHistory::confirms)
                        .filter(event -> event.end() < part.nextSentAt())
                        .mapToLong(HistoryEvent::start)
                        .max()
                        .orElse(Long.MIN_VALUE)
                : NEVER;
    }

    private static boolean confirms(HistoryEvent event) {
        return event.is(Kind.ACQUIRE, Outcome.QUEUED) || event.is(Kind.RENEW, Outcome.OK);
    }

    private void add(List<Stay> stays, HistoryEvent queued, long until) {
        if (queued != null && queued.end() < Math.min(until, processes.crashAfter(queued.start()))) {
            stays.add(new Stay(this, queued, Math.min(until, processes.crashAfter(queued.start()))));
        }
    }

    /** Counts from the request, because the server renews the entry later. */
    private long renewedUntil(HistoryEvent event) {
        return event.start() + ttl - LeaseHistory.INACCURACY_NANOS;
    }

    /**
     * Whether the event may end the entry. A grant is judged by its fence. A waiter that misses its hand-over loses the
     * entry with the lease.
     */
    private static boolean mayEnd(HistoryEvent event) {
        return event.is(Kind.RELEASE)
                || event.is(Kind.ENDED)
                || event.is(Kind.EXTEND) && event.mayHaveHappened()
                || event.is(Kind.ACQUIRE, Outcome.REFUSED)
                || event.is(Kind.ACQUIRE, Outcome.UNKNOWN);
    }

    /** The last moment at which the entry may have existed; earlier than all other times if it never did. */
    long latestEnd() {
        long latest = Stream.concat(acquires.stream().filter(QueueEntryHistory::mayQueue), all(Kind.RENEW))
                .mapToLong(event -> latestEffect(event) + ttl + LeaseHistory.INACCURACY_NANOS)
                .max()
                .orElse(Long.MIN_VALUE);
        if (acquires.stream().noneMatch(QueueEntryHistory::mayQueue)) {
            return Long.MIN_VALUE;
        }
        HistoryEvent last = acquires.get(acquires.size() - 1);
        if (last.outcome() == Outcome.UNKNOWN) {
            return latest;
        }
        return events.stream()
                .filter(event -> event.start() >= last.start() && ends(event))
                // The release may have arrived before the entry of a request under way.
                .filter(event -> !event.is(Kind.RELEASE, Outcome.NOT_HELD) || event.start() >= last.end())
                .filter(event -> !event.is(Kind.RELEASE, Outcome.LEFT) || !processes.mayBeUndone(event))
                .mapToLong(HistoryEvent::end)
                .reduce(latest, Math::min);
    }

    private static boolean mayQueue(HistoryEvent acquire) {
        return acquire.outcome() == Outcome.QUEUED || acquire.outcome() == Outcome.UNKNOWN;
    }

    private static boolean ends(HistoryEvent event) {
        return event.is(Kind.ACQUIRE, Outcome.OK)
                || event.is(Kind.HANDED_OVER, Outcome.OK)
                || event.is(Kind.ACQUIRE, Outcome.REFUSED)
                || event.is(Kind.RELEASE, Outcome.LEFT)
                || event.is(Kind.RELEASE, Outcome.NOT_HELD);
    }

    private long latestEffect(HistoryEvent event) {
        if (event.outcome() != Outcome.UNKNOWN) {
            return event.end();
        }
        long gaveUp = event.end() == NEVER ? processes.endOf(event.source().process(), event.start()) : event.end();
        return gaveUp + LeaseHistory.IN_DOUBT_NANOS;
    }
}
