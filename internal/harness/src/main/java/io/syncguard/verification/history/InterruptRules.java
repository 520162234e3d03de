package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Rules for interrupts: a release that answers true has released the lease, and an interrupted acquire reports the
 * interrupt and leaves neither a queue entry nor a lease.
 */
public final class InterruptRules {

    /** How long the queue entry or the lease of an interrupted acquire may stay; long, for a busy machine. */
    public static final long LEAVING_NANOS = 2_000_000_000L;

    private final ProcessTimes processes;
    private final Consumer<Violation> found;

    InterruptRules(ProcessTimes processes, Consumer<Violation> found) {
        this.processes = processes;
        this.found = found;
    }

    /** @param events the events of one key */
    void check(Collection<HistoryEvent> events) {
        all(events, Kind.ABORTED, Outcome.FAILED)
                .forEach(aborted -> report(
                        Rule.INTERRUPTS, "an acquire failed, but neither as interrupted nor with the flag", aborted));
        events.stream()
                .filter(event -> !event.lock().isEmpty())
                .collect(Collectors.groupingBy(HistoryEvent::lock))
                .values()
                .forEach(this::checkLock);
    }

    private void checkLock(List<HistoryEvent> events) {
        all(events, Kind.ABORTED, Outcome.OK)
                .forEach(aborted -> all(events, Kind.SEEN, Outcome.OK)
                        .filter(seen -> processes.wasUndisturbed(seen) && seen.start() > aborted.end() + LEAVING_NANOS)
                        .findFirst()
                        .ifPresent(seen -> report(
                                Rule.INTERRUPTS,
                                "an acquire that was interrupted left something behind",
                                aborted,
                                seen)));
        all(events, Kind.HANDLE_RELEASED, Outcome.OK)
                .filter(processes::wasUndisturbed)
                // The row was locked for a moment. The release is repeated, and the lease has no holder.
                .filter(given ->
                        all(events, Kind.RELEASE, Outcome.BUSY).findAny().isEmpty())
                .forEach(given -> releasedWhenSaid(given, events));
    }

    private void releasedWhenSaid(HistoryEvent given, List<HistoryEvent> events) {
        // If the answer to a release was lost, the repeated one finds nothing.
        if (Stream.concat(all(events, Kind.RELEASE, Outcome.OK), all(events, Kind.RELEASE, Outcome.NOT_HELD))
                .noneMatch(release -> release.start() >= given.start() && release.end() <= given.end())) {
            report(Rule.RELEASED_WHEN_ANSWERED, "a handle was released before its lease was", given);
        }
        all(events, Kind.SEEN, Outcome.OK)
                .filter(seen -> seen.start() > given.end())
                .findFirst()
                .ifPresent(seen -> report(
                        Rule.RELEASED_WHEN_ANSWERED,
                        "a lease is in the store after its handle was released",
                        given,
                        seen));
    }

    private static Stream<HistoryEvent> all(Collection<HistoryEvent> events, Kind kind, Outcome outcome) {
        return events.stream().filter(event -> event.is(kind, outcome));
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        found.accept(Violation.of(rule, what, events));
    }
}
