package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/** Rules about the work that is done under a key: guarded commits, and terms of leadership. */
final class WorkRules {

    private final Consumer<Violation> violations;

    WorkRules(Consumer<Violation> violations) {
        this.violations = violations;
    }

    void check(List<HistoryEvent> events) {
        commitsAreInOrder(events);
        termsDoNotOverlap(events);
    }

    private void commitsAreInOrder(List<HistoryEvent> events) {
        HistoryEvent before = null;
        for (HistoryEvent commit : events.stream()
                .filter(event -> event.is(Kind.COMMITTED, Outcome.OK))
                .sorted(Comparator.comparingLong(HistoryEvent::value))
                .toList()) {
            if (before != null && commit.lease().fence() < before.lease().fence()) {
                report(Rule.COMMITS, "a guarded commit follows one with a larger fence", before, commit);
            }
            if (before != null && commit.value() == before.value()) {
                report(Rule.COMMITS, "two commits made one version", before, commit);
            }
            before = commit;
        }
    }

    private void termsDoNotOverlap(List<HistoryEvent> events) {
        LeadershipTerms terms = new LeadershipTerms();
        events.stream()
                .filter(event -> event.is(Kind.LED, Outcome.OK))
                .sorted(Comparator.comparingLong(HistoryEvent::start))
                .forEach(terms::add);
        terms.violations().forEach(violation -> violations.accept(new Violation(Rule.TERMS, violation)));
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        violations.accept(Violation.of(rule, what, events));
    }
}
