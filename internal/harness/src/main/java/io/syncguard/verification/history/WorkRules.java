package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    /**
     * A process leads from its first proof of a term to its last. For any two terms, the last proof of one must begin
     * before the first proof of the other ends: only then can one term have ended before the other began.
     */
    private void termsDoNotOverlap(List<HistoryEvent> events) {
        Map<String, Term> terms = new LinkedHashMap<>();
        events.stream()
                .filter(event -> event.is(Kind.LED))
                .sorted(Comparator.comparingLong(HistoryEvent::start))
                .forEach(proof -> terms.merge(
                        proof.source().process() + " " + proof.lease().fence(),
                        new Term(proof, proof),
                        (term, next) -> new Term(term.first, next.last)));
        List<Term> inOrder = new ArrayList<>(terms.values());
        inOrder.sort(Comparator.comparingLong(term -> term.first.lease().fence()));
        for (int i = 1; i < inOrder.size(); i++) {
            HistoryEvent last = inOrder.get(i - 1).last;
            HistoryEvent first = inOrder.get(i).first;
            if (last.start() > first.end()) {
                report(Rule.TERMS, "a term goes on when one with a larger fence has begun", last, first);
            }
        }
    }

    private void report(Rule rule, String what, HistoryEvent... events) {
        violations.accept(Violation.of(rule, what, events));
    }

    private record Term(HistoryEvent first, HistoryEvent last) {}
}
