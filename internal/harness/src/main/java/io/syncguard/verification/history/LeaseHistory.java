package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The events of one grant, and the earliest and latest times that follow from them. Answers are certain; an event of
 * unknown outcome is taken to have happened at the worst time for the caller of the method.
 *
 * <p>Times are nanoseconds of the monotonic clock; {@link ServerExpiry} has those of the server's clock.
 */
public final class LeaseHistory {

    /** The tolerance after the end of a lease. */
    public static final long TOLERANCE_MILLIS = 1000;

    /**
     * With a worker's settings the server ends a statement after 1.8 s. The remaining time is for a busy machine.
     */
    static final long IN_DOUBT_NANOS = 5_000_000_000L;

    private static final String LIBRARY_THREADS = "syncguard-";

    /** The server counts whole milliseconds, and the two clocks do not run equally fast. */
    static final long INACCURACY_NANOS = 20_000_000L;

    private static final long NANOS = 1_000_000;

    private final HistoryEvent acquire;

    /** When the first request was sent that may have been granted or queued. */
    private final long arrivedAt;

    private final List<HistoryEvent> events;
    private final ProcessTimes processes;

    /**
     * The events that may have set the end of the lease: the acquire requests, the hand-over and the extensions, in the
     * order of sending.
     */
    private final List<HistoryEvent> settings;

    /** The time from which a later fence had certainly been granted. */
    private long takenAt = NEVER;

    private HistoryEvent taker;

    LeaseHistory(HistoryEvent acquire, long arrivedAt, List<HistoryEvent> events, ProcessTimes processes) {
        this.acquire = acquire;
        this.arrivedAt = arrivedAt;
        this.events = events;
        this.processes = processes;
        this.settings = events.stream()
                .filter(event -> event.is(Kind.ACQUIRE) || event.is(Kind.HANDED_OVER) || event.is(Kind.EXTEND))
                .filter(HistoryEvent::mayHaveHappened)
                .sorted(Comparator.comparingLong(HistoryEvent::start))
                .toList();
    }

    HistoryEvent acquire() {
        return acquire;
    }

    boolean isGranted() {
        return acquire.outcome() == Outcome.OK;
    }

    /**
     * Whether the holder may have sent several requests. A hand-over goes to a waiter, and the history lacks some of
     * its requests.
     */
    boolean wasRequestedRepeatedly() {
        return acquire.is(Kind.HANDED_OVER) || all(Kind.ACQUIRE).count() > 1;
    }

    /**
     * The send time of the first request that may have been granted. After a request without an answer, or after a
     * missed hand-over, a reader sends another request. It gets its lease back, with the fence of that grant and a new
     * start; other readers may have been granted the key in between.
     */
    long firstRequestedAt() {
        if (acquire.lease().isLimited()) {
            return arrivedAt;
        }
        return Stream.concat(Stream.of(acquire), isShared() ? all(Kind.ACQUIRE, Outcome.UNKNOWN) : Stream.empty())
                .mapToLong(HistoryEvent::start)
                .min()
                .orElseThrow();
    }

    /** Whether the event may belong to a late grant: a request without an answer ran after this lease was over. */
    boolean mayBeAboutLateGrant(HistoryEvent event) {
        return all(Kind.ACQUIRE, Outcome.UNKNOWN)
                .filter(late -> late != acquire)
                .anyMatch(late -> event.start()
                        <= latestEffect(late) + (late.lease().ttl() + TOLERANCE_MILLIS) * NANOS + INACCURACY_NANOS);
    }

    boolean isShared() {
        return acquire.lease().shared();
    }

    /** How many shared leases the key may have with it; 0 for no limit. */
    int permits() {
        return acquire.lease().permits();
    }

    /** Two shared grants do not conflict. */
    boolean conflictsWith(LeaseHistory other) {
        return !isShared() || !other.isShared();
    }

    long fence() {
        return acquire.lease().fence();
    }

    Stream<HistoryEvent> all(Kind kind) {
        return events.stream().filter(event -> event.is(kind));
    }

    Stream<HistoryEvent> all(Kind kind, Outcome outcome) {
        return events.stream().filter(event -> event.is(kind, outcome));
    }

    /** The events that certainly set the end of the lease. */
    Stream<HistoryEvent> confirmedSettings() {
        return settings.stream().filter(event -> event.outcome() == Outcome.OK);
    }

    void add(HistoryEvent event) {
        events.add(event);
    }

    /** Notes a conflicting grant with a larger fence. The earliest answer of all of them counts. */
    void takenBy(HistoryEvent grant) {
        if (grant.end() < takenAt) {
            takenAt = grant.end();
            taker = grant;
        }
    }

    long takenAt() {
        return takenAt;
    }

    HistoryEvent taker() {
        return taker;
    }

    /** Whether another process may have ended or changed it: the holder detects that later. */
    boolean wasTouchedByOthers() {
        return events.stream()
                .anyMatch(event -> event.is(Kind.ENDED)
                        || (event.is(Kind.RELEASE) || event.is(Kind.EXTEND))
                                && event.mayHaveHappened()
                                && (!isOwn(event) || isByAnotherClient(event)));
    }

    boolean isOwn(HistoryEvent event) {
        return event.source().process().equals(acquire.source().process());
    }

    /**
     * Whether another client used the lock id before the holder received the grant. The process did not know the lease
     * as its own then.
     */
    private boolean isByAnotherClient(HistoryEvent event) {
        String client = event.source().client();
        return !client.equals(acquire.source().client())
                && !client.startsWith(LIBRARY_THREADS)
                && event.start() < firstDeadline();
    }

    private long firstDeadline() {
        return all(Kind.HELD).mapToLong(HistoryEvent::start).min().orElse(NEVER);
    }

    /** The latest time at which the event can have taken effect. */
    long latestEffect(HistoryEvent event) {
        if (event.outcome() != Outcome.UNKNOWN) {
            return event.end();
        }
        long gaveUp = event.end() == NEVER ? processes.endOf(event.source().process(), event.start()) : event.end();
        return gaveUp + IN_DOUBT_NANOS;
    }

    /** The last moment at which the lease may have blocked other grants. */
    long latestEnd() {
        long end = Math.min(latestLapse(NEVER), takenAt);
        for (HistoryEvent event : events) {
            boolean released = event.is(Kind.RELEASE, Outcome.OK) && !processes.mayBeUndone(event);
            if (released || event.is(Kind.ENDED, Outcome.OK)) {
                end = Math.min(end, event.end());
            }
        }
        if (all(Kind.RELEASE, Outcome.BUSY).findAny().isEmpty()) {
            end = all(Kind.HANDLE_RELEASED, Outcome.OK)
                    .filter(processes::wasUndisturbed)
                    .filter(event -> !processes.mayBeUndone(event))
                    .mapToLong(HistoryEvent::end)
                    .reduce(end, Math::min);
        }
        return end;
    }

    /**
     * The last moment at which the lease may have blocked other grants if nothing ended it. Only requests sent before
     * the given time count.
     */
    long latestLapse(long before) {
        return effective(NEVER, before, settings)
                        .mapToLong(event -> latestEffect(event) + event.lease().ttl() * NANOS)
                        .max()
                        .orElse(Long.MIN_VALUE / 2)
                + TOLERANCE_MILLIS * NANOS
                + INACCURACY_NANOS;
    }

    /** Whether the lease was certainly live during the whole event. */
    boolean isLiveThroughout(HistoryEvent during) {
        return isGranted()
                && acquire.end() < during.start()
                && events.stream()
                        .noneMatch(event -> (event.is(Kind.RELEASE) || event.is(Kind.ENDED))
                                && event.mayHaveHappened()
                                && event.start() <= during.end())
                && earliestLapse(during) > during.end();
    }

    private long earliestLapse(HistoryEvent during) {
        return effective(during.start(), during.end(), settings)
                        .mapToLong(event -> event.start() + event.lease().ttl() * NANOS)
                        .min()
                        .orElse(Long.MIN_VALUE / 2)
                + TOLERANCE_MILLIS * NANOS
                - INACCURACY_NANOS;
    }

    /** The latest possible deadline of the holder, for a check during the event. */
    long latestDeadline(HistoryEvent during) {
        List<HistoryEvent> own = settings.stream()
                .filter(event -> event.outcome() == Outcome.OK && isOwn(event))
                .toList();
        List<HistoryEvent> ofHolder =
                own.stream().filter(event -> !isByAnotherClient(event)).toList();
        // Another client may have extended the new handle, or only its lease.
        return Stream.concat(
                        effective(during.start(), during.end(), ofHolder),
                        own.stream().filter(event -> isByAnotherClient(event) && event.start() <= during.end()))
                .mapToLong(event -> event.start() + event.lease().ttl() * NANOS)
                .max()
                .orElse(Long.MIN_VALUE);
    }

    /** The end of the lease by the server's clock. */
    ServerExpiry onServer() {
        return new ServerExpiry(acquire, settings);
    }

    /**
     * The settings that may have been in effect at some moment between the times: sent before the end, and not
     * certainly replaced before the start.
     */
    private Stream<HistoryEvent> effective(long from, long to, List<HistoryEvent> settings) {
        return settings.stream()
                .filter(event -> event.start() <= to)
                .filter(event -> settings.stream()
                        .noneMatch(later -> later.outcome() == Outcome.OK
                                && later.end() < Math.min(from, to)
                                && later.start() > latestEffect(event)));
    }
}
