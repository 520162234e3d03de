package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A history of one key, written by hand. Times are milliseconds. A call takes one millisecond, and the server acts in
 * its middle. The server's clock is far ahead of the monotonic one.
 *
 * <p>A call with the lock {@code "b/first"} is one of process b. So are the later calls with {@code "first"}.
 */
final class HistoryScript {

    private static final long SERVER_AHEAD = 1_700_000_000_000L;
    private static final long MILLI = 1_000_000;
    private static final long WAITER_TTL = 5000;

    private final List<HistoryEvent> events = new ArrayList<>();
    private final ProcessTimes processes = new ProcessTimes();

    /** The process that used a lock first. */
    private final Map<String, String> users = new HashMap<>();

    private String process = "a";
    private String client = "client";
    private long took = 1;
    private boolean shared;
    private int permits;

    static HistoryScript script() {
        return new HistoryScript();
    }

    /** A caller holds the key. */
    static HistoryScript held() {
        return script().grant("holder", 1, 0, 1000);
    }

    /** Two writers arrive one after the other, and the holder releases. */
    static HistoryScript twoWait() {
        return held().queue("b/first", 10).queue("c/second", 20).release("holder", 30, Outcome.OK);
    }

    /** The process of the following calls without a lock, and of locks without a process. */
    HistoryScript by(String process) {
        this.process = process;
        return this;
    }

    /** The thread of the following calls. */
    HistoryScript on(String client) {
        this.client = client;
        return this;
    }

    /** The duration of the following calls. */
    HistoryScript taking(long millis) {
        this.took = millis;
        return this;
    }

    /** The following acquire requests are shared. */
    HistoryScript reading() {
        this.shared = true;
        this.permits = 0;
        return this;
    }

    /** The following acquire requests are shared, with so many permits. */
    HistoryScript permits(int permits) {
        this.shared = true;
        this.permits = permits;
        return this;
    }

    /** The following acquire requests are exclusive, which is the default. */
    HistoryScript writing() {
        this.shared = false;
        this.permits = 0;
        return this;
    }

    HistoryScript grant(String lock, long fence, long at, long ttl) {
        return add(called(Kind.ACQUIRE, lock, at, Outcome.OK)
                .with(new Lease(fence, ttl, SERVER_AHEAD + at, SERVER_AHEAD + at + ttl, shared, permits)));
    }

    HistoryScript acquire(String lock, long at, long ttl, Outcome outcome) {
        return add(called(Kind.ACQUIRE, lock, at, outcome)
                .with(Lease.ofTtl(ttl).shared(shared).permits(permits))
                .with(5000));
    }

    HistoryScript queue(String lock, long at) {
        return acquire(lock, at, 100, Outcome.QUEUED);
    }

    /** The same for a caller that accepts a hand-over. */
    HistoryScript line(String lock, long at) {
        return acquire(lock, at, 6000, Outcome.QUEUED);
    }

    /**
     * The message of a hand-over arrives: a release has granted the key, with a lease of five seconds, to the sender of
     * the last acquire request.
     */
    HistoryScript handed(String lock, long fence, long grantedAt, long at) {
        return handed(lock, fence, grantedAt, WAITER_TTL, at);
    }

    HistoryScript handed(String lock, long fence, long grantedAt, long firstLease, long at) {
        String name = lock.substring(lock.indexOf('/') + 1);
        long acquire = events.stream()
                .filter(event -> event.is(Kind.ACQUIRE) && event.lock().equals(name) && event.start() <= at * MILLI)
                .mapToLong(event -> event.source().number())
                .reduce(0, (before, after) -> after);
        return add(during(Kind.HANDED_OVER, lock, at, at)
                .with(new Lease(
                        fence, firstLease, SERVER_AHEAD + grantedAt, SERVER_AHEAD + grantedAt + firstLease, false))
                .with(acquire));
    }

    /** The answer to an acquire request is the grant that its queue entry had become, now extended. */
    HistoryScript foundOwn(String lock, long fence, long grantedAt, long at, long ttl) {
        return add(called(Kind.ACQUIRE, lock, at, Outcome.OK)
                .with(new Lease(fence, ttl, SERVER_AHEAD + grantedAt, SERVER_AHEAD + at + ttl, shared, permits)));
    }

    HistoryScript renew(String lock, long at) {
        return add(called(Kind.RENEW, lock, at, Outcome.OK).with(5000));
    }

    /** A request without an answer: the process was killed. */
    HistoryScript acquireWithoutAnswer(String lock, long at, long ttl) {
        return add(called(Kind.ACQUIRE, lock, at, Outcome.UNKNOWN)
                .answered(HistoryEvent.NEVER, Outcome.UNKNOWN)
                .with(Lease.ofTtl(ttl).shared(shared).permits(permits)));
    }

    HistoryScript extend(String lock, long at, long ttl, Outcome outcome) {
        long expiresAt = outcome == Outcome.OK ? SERVER_AHEAD + at + ttl : 0;
        return add(called(Kind.EXTEND, lock, at, outcome).with(Lease.extended(ttl, expiresAt)));
    }

    HistoryScript release(String lock, long at, Outcome outcome) {
        return add(called(Kind.RELEASE, lock, at, outcome));
    }

    HistoryScript found(String lock, long fence, long acquiredAt, long at) {
        return add(called(Kind.LOOKUP, lock, at, Outcome.OK)
                .with(new Lease(fence, 0, SERVER_AHEAD + acquiredAt, SERVER_AHEAD + at + 1, shared)));
    }

    HistoryScript missed(String lock, long at) {
        return add(called(Kind.LOOKUP, lock, at, Outcome.NOT_HELD));
    }

    HistoryScript held(String lock, long at, long leftMillis) {
        return add(called(Kind.HELD, lock, at, Outcome.OK).with(leftMillis * MILLI));
    }

    HistoryScript releasedHandle(String lock, long at) {
        return add(called(Kind.HANDLE_RELEASED, lock, at, Outcome.OK));
    }

    HistoryScript lost(long fence, long at) {
        return add(called(Kind.LOST, "", at, Outcome.OK).with(Lease.ofFence(fence)));
    }

    HistoryScript sawLoss(String lock, long at) {
        return add(called(Kind.LOSS_SEEN, lock, at, Outcome.OK));
    }

    HistoryScript joined(String lock, long at, long inner, long outer) {
        return add(called(Kind.JOINED, lock, at, Outcome.OK)
                .with(Lease.ofFence(inner))
                .with(outer));
    }

    HistoryScript wrote(String lock, long fence, long number, long at, Outcome outcome) {
        return add(called(Kind.EFFECT, lock, at, outcome)
                .with(Lease.ofFence(fence))
                .with(number));
    }

    HistoryScript committed(String lock, long fence, long version, long at) {
        return add(called(Kind.COMMITTED, lock, at, Outcome.OK)
                .with(Lease.ofFence(fence))
                .with(version));
    }

    /** A proof of the current process that it leads. */
    HistoryScript led(long fence, int term, long at) {
        return add(
                called(Kind.LED, "", at, Outcome.OK).with(Lease.ofFence(fence)).with(term));
    }

    HistoryScript ended(String lock, long at) {
        return add(called(Kind.ENDED, lock, at, Outcome.OK));
    }

    /** The server is killed and started again. */
    HistoryScript crashed(long from, long to) {
        processes.sawCrash(from * MILLI, to * MILLI);
        return this;
    }

    HistoryScript pinned(String lock, long from, long to) {
        return add(during(Kind.PINNED, lock, from, to)).add(during(Kind.PINNING, lock, from - 1, to + 1));
    }

    HistoryScript serialised(long from, long to) {
        return add(during(Kind.SERIALISED, "", from, to).with(new Lease(0, 0, SERVER_AHEAD + to, 0, false)));
    }

    HistoryScript swept(long at) {
        return add(called(Kind.SWEPT, "", at, Outcome.OK));
    }

    HistoryScript counter(long fence, long at) {
        return add(called(Kind.COUNTER, "", at, Outcome.OK).with(Lease.ofFence(fence)));
    }

    /** An acquire request under this lock id was interrupted; FAILED if it did not report that. */
    HistoryScript aborted(String lock, long at, Outcome outcome) {
        return add(called(Kind.ABORTED, lock, at, outcome));
    }

    HistoryScript seen(String lock, long at) {
        return add(called(Kind.SEEN, lock, at, Outcome.OK));
    }

    HistoryScript undisturbed(long from, long to) {
        processes.sawUndisturbed(from * MILLI, to * MILLI);
        return this;
    }

    HistoryScript processEnded(String name, long at) {
        processes.sawAlive(name, at * MILLI);
        return this;
    }

    HistoryScript releaseStuckOf(String name, long at) {
        processes.sawReleaseStuck(name, at * MILLI);
        return this;
    }

    List<HistoryEvent> events() {
        return events;
    }

    List<Violation> check() {
        return HistoryChecker.check(events, processes);
    }

    private HistoryEvent called(Kind kind, String lock, long at, Outcome outcome) {
        HistoryEvent event = during(kind, lock, at, at + took);
        return event.answered(event.end(), outcome);
    }

    private HistoryEvent during(Kind kind, String lock, long from, long to) {
        int slash = lock.indexOf('/');
        String name = lock.substring(slash + 1);
        String user = slash < 0 ? users.getOrDefault(name, process) : lock.substring(0, slash);
        if (!name.isEmpty()) {
            users.putIfAbsent(name, user);
        }
        return HistoryEvent.of(kind, new Source(user, client, events.size()), "key", name, from * MILLI)
                .answered(to * MILLI, Outcome.OK);
    }

    private HistoryScript add(HistoryEvent event) {
        events.add(event);
        return this;
    }
}
