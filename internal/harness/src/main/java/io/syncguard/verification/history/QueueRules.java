package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.QueueEntryHistory.Stay;
import io.syncguard.verification.history.Violation.Rule;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Rules for the waiters of one key: a caller must not pass a queue entry that certainly existed from before the
 * caller's first request until after its grant.
 */
final class QueueRules {

    private final ProcessTimes processes;
    private final Consumer<Violation> found;

    QueueRules(ProcessTimes processes, Consumer<Violation> found) {
        this.processes = processes;
        this.found = found;
    }

    void check(Collection<QueueEntryHistory> requests) {
        List<Stay> stays = requests.stream()
                .flatMap(request -> request.stays().stream())
                .sorted(Comparator.comparingLong(Stay::from))
                .toList();
        for (QueueEntryHistory request : requests) {
            request.acquires().stream()
                    .filter(acquire -> acquire.outcome() == Outcome.OK)
                    .forEach(grant -> nobodyIsPassed(request, grant, stays));
            entryIsDeleted(request);
        }
    }

    private void nobodyIsPassed(QueueEntryHistory request, HistoryEvent grant, List<Stay> stays) {
        for (Stay stay : stays) {
            if (stay.from() >= request.sentAt()) {
                return;
            }
            QueueEntryHistory passed = stay.entry();
            if (stay.until() > grant.end()
                    && !passed.lock().equals(request.lock())
                    && passed.conflictsWith(request)
                    && passed.fence() > request.fence()) {
                boolean isNew = request.acquires().get(0) == grant;
                found.accept(Violation.of(
                        isNew ? Rule.NEWCOMERS_YIELD : Rule.ORDER_OF_ARRIVAL,
                        isNew ? "a first try passed a waiter" : "a later waiter was granted first",
                        stay.queued(),
                        request.acquires().get(0),
                        grant));
                return;
            }
        }
    }

    private void entryIsDeleted(QueueEntryHistory request) {
        List<HistoryEvent> acquires = request.acquires().stream()
                .filter(acquire -> acquire.is(Kind.ACQUIRE))
                .toList();
        HistoryEvent last = acquires.get(acquires.size() - 1);
        String process = last.source().process();
        boolean left = request.all(Kind.RELEASE).anyMatch(release -> release.start() >= last.end());
        boolean stays = request.all(Kind.RENEW)
                .anyMatch(renew -> outlivedBy(process, renew.start()) < ProcessTimes.GRACE_NANOS);
        // The waiter received a hand-over, or received it too late and sent another request.
        boolean wentOn =
                request.acquires().stream().anyMatch(acquire -> acquire.is(Kind.HANDED_OVER) && acquire.end() != NEVER);
        if (last.outcome() == Outcome.QUEUED
                && !wentOn
                && !left
                && !stays
                && outlivedBy(process, last.end()) > ProcessTimes.GRACE_NANOS
                && !processes.releasesWereStuck(process, last.end(), last.end() + ProcessTimes.GRACE_NANOS)) {
            found.accept(Violation.of(Rule.NOTHING_LEAKS, "a queue entry was never deleted", last));
        }
    }

    private long outlivedBy(String process, long time) {
        return processes.endOf(process, NEVER) - time;
    }
}
