package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The rules for the fences of a key: they grow with the grants, and each missing number has a reason. One reason is
 * that the next fence comes from the clock.
 */
final class FenceRules {

    /** Fences from the clock are larger: this one stands for the year 1973. No counter reaches it in a run. */
    private static final long FIRST_BY_THE_CLOCK = 10_000_000_000_000L;

    private final KeyHistory history;
    private final List<LeaseHistory> grants;
    private final Consumer<Violation> violations;

    FenceRules(KeyHistory history, Consumer<Violation> violations) {
        this.history = history;
        this.grants = history.grants();
        this.violations = violations;
    }

    /** @param events all events of the key */
    void check(List<HistoryEvent> events) {
        fencesGrow();
        gapsAreExplained(events);
    }

    private void fencesGrow() {
        for (int i = 1; i < grants.size(); i++) {
            HistoryEvent before = grants.get(i - 1).acquire();
            HistoryEvent after = grants.get(i).acquire();
            long requestedAt = grants.get(i - 1).firstRequestedAt();
            boolean isFirstAnswer = requestedAt == before.start();
            if (before.lease().fence() == after.lease().fence()) {
                report(Rule.FENCES, "one fence was granted twice", before, after);
            } else if (after.end() < requestedAt
                    || isFirstAnswer
                            && after.lease().acquiredAt() < before.lease().acquiredAt()) {
                report(Rule.FENCES, "a later grant has a smaller fence", after, before);
            }
        }
    }

    /** Each missing number was drawn by a separate acquire request of unknown outcome, at a possible time. */
    private void gapsAreExplained(List<HistoryEvent> events) {
        List<LeaseHistory> unknown = history.leases().values().stream()
                .filter(lease -> !lease.isGranted())
                .sorted(Comparator.comparingLong(lease -> lease.acquire().start()))
                .toList();
        PriorityQueue<Long> latestEffects = new PriorityQueue<>();
        int next = 0;
        HistoryEvent before = null;
        for (HistoryEvent after : numbered(events)) {
            long until = after.is(Kind.COUNTER) ? NEVER : after.end();
            for (; next < unknown.size() && unknown.get(next).acquire().start() <= until; next++) {
                latestEffects.add(
                        unknown.get(next).latestEffect(unknown.get(next).acquire()));
            }
            while (before != null && !latestEffects.isEmpty() && latestEffects.peek() < before.start()) {
                latestEffects.remove();
            }
            explain(before, after, latestEffects);
            before = after;
        }
    }

    /** All grants by fence, and the counter at the end of the run. */
    private List<HistoryEvent> numbered(List<HistoryEvent> events) {
        List<HistoryEvent> numbered = new ArrayList<>();
        grants.forEach(lease -> numbered.add(lease.acquire()));
        events.stream().filter(event -> event.is(Kind.COUNTER)).forEach(numbered::add);
        return numbered;
    }

    private void explain(HistoryEvent before, HistoryEvent after, PriorityQueue<Long> latestEffects) {
        long missing = after.lease().fence()
                - (before == null ? 0 : before.lease().fence())
                - (after.is(Kind.COUNTER) ? 0 : 1);
        HistoryEvent[] between = before == null ? new HistoryEvent[] {after} : new HistoryEvent[] {before, after};
        if (after.is(Kind.COUNTER) && missing < 0) {
            report(Rule.FENCES, "the counter is behind the fences that were granted", between);
        }
        if (after.lease().fence() >= FIRST_BY_THE_CLOCK) {
            return;
        }
        for (; missing > 0; missing--) {
            if (latestEffects.poll() == null) {
                report(Rule.FENCES, "nothing explains a gap of " + missing + " between two fences", between);
                return;
            }
        }
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        violations.accept(Violation.of(rule, what, events));
    }
}
