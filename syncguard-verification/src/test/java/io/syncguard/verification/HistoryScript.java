package io.syncguard.verification;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Lease;
import io.syncguard.verification.HistoryEvent.Outcome;
import io.syncguard.verification.HistoryEvent.Source;
import io.syncguard.verification.Violation.Rule;
import java.util.ArrayList;
import java.util.List;

/**
 * A history of one key, written by hand. Times are milliseconds; a call takes one, in whose middle the server acts. The
 * server's clock is far ahead of the monotonic one.
 */
final class HistoryScript {

    private static final long SERVER_AHEAD = 1_700_000_000_000L;
    private static final long MILLI = 1_000_000;
    private static final long WAITER_TTL = 5000;

    private final List<HistoryEvent> events = new ArrayList<>();
    private final ProcessTimes processes = new ProcessTimes();
    private String process = "a";
    private String client = "client";
    private long took = 1;
    private boolean shared;

    static HistoryScript script() {
        return new HistoryScript();
    }

    /** Somebody holds the key. */
    static HistoryScript held() {
        return script().grant("holder", 1, 0, 1000);
    }

    /** Two writers came one after the other, and the holder has gone. */
    static HistoryScript twoWait() {
        return held().by("b")
                .queue("first", 10)
                .by("c")
                .queue("second", 20)
                .by("a")
                .release("holder", 30, Outcome.OK);
    }

    static void accepts(HistoryScript script) {
        assertThat(script.check()).isEmpty();
    }

    /** Rejected by this rule, with a message that names events of the history. */
    static void rejects(Rule rule, String message, HistoryScript script) {
        assertThat(script.check()).anySatisfy(violation -> {
            assertThat(violation.rule()).isEqualTo(rule);
            assertThat(violation.message()).contains(message);
            assertThat(script.events).anyMatch(event -> violation.message().contains(event.name()));
        });
    }

    /** Whose calls follow. */
    HistoryScript by(String process) {
        this.process = process;
        return this;
    }

    /** Which thread's calls follow. */
    HistoryScript on(String client) {
        this.client = client;
        return this;
    }

    /** How long the calls take that follow. */
    HistoryScript taking(long millis) {
        this.took = millis;
        return this;
    }

    /** The acquire requests that follow are to share. */
    HistoryScript reading() {
        this.shared = true;
        return this;
    }

    /** The acquire requests that follow are exclusive, as they are from the beginning. */
    HistoryScript writing() {
        this.shared = false;
        return this;
    }

    HistoryScript grant(String lock, long fence, long at, long ttl) {
        return add(called(Kind.ACQUIRE, lock, at, Outcome.OK)
                .with(new Lease(fence, ttl, SERVER_AHEAD + at, SERVER_AHEAD + at + ttl, shared)));
    }

    HistoryScript acquire(String lock, long at, long ttl, Outcome outcome) {
        return add(called(Kind.ACQUIRE, lock, at, outcome)
                .with(Lease.ofTtl(ttl).shared(shared))
                .with(5000));
    }

    HistoryScript queue(String lock, long at) {
        return acquire(lock, at, 100, Outcome.QUEUED);
    }

    /** Like that, by somebody who may be handed the key. */
    HistoryScript line(String lock, long at) {
        return acquire(lock, at, 6000, Outcome.QUEUED);
    }

    /**
     * The message arrives that a release has granted the key, with a lease of five seconds, to whoever made the last
     * acquire request.
     */
    HistoryScript handed(String lock, long fence, long grantedAt, long at) {
        return handed(lock, fence, grantedAt, WAITER_TTL, at);
    }

    HistoryScript handed(String lock, long fence, long grantedAt, long firstLease, long at) {
        long acquire = events.stream()
                .filter(event -> event.is(Kind.ACQUIRE) && event.lock().equals(lock) && event.start() <= at * MILLI)
                .mapToLong(event -> event.source().number())
                .reduce(0, (before, after) -> after);
        return add(during(Kind.HANDED_OVER, lock, at, at)
                .with(new Lease(
                        fence, firstLease, SERVER_AHEAD + grantedAt, SERVER_AHEAD + grantedAt + firstLease, false))
                .with(acquire));
    }

    /** An acquire request is answered a grant that the queue entry has become before, which is extended. */
    HistoryScript foundOwn(String lock, long fence, long grantedAt, long at, long ttl) {
        return add(called(Kind.ACQUIRE, lock, at, Outcome.OK)
                .with(new Lease(fence, ttl, SERVER_AHEAD + grantedAt, SERVER_AHEAD + at + ttl, false)));
    }

    HistoryScript renew(String lock, long at) {
        return add(called(Kind.RENEW, lock, at, Outcome.OK).with(5000));
    }

    /** Asked and never answered: the process was killed. */
    HistoryScript acquireWithoutAnswer(String lock, long at, long ttl) {
        return add(called(Kind.ACQUIRE, lock, at, Outcome.UNKNOWN)
                .answered(HistoryEvent.NEVER, Outcome.UNKNOWN)
                .with(Lease.ofTtl(ttl).shared(shared)));
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

    HistoryScript ended(String lock, long at) {
        return add(called(Kind.ENDED, lock, at, Outcome.OK));
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

    /** An acquire request under this lock id was interrupted; FAILED if it did not say so. */
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
        return HistoryEvent.of(kind, new Source(process, client, events.size()), "key", lock, from * MILLI)
                .answered(to * MILLI, Outcome.OK);
    }

    private HistoryScript add(HistoryEvent event) {
        events.add(event);
        return this;
    }
}
