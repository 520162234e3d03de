package io.syncguard.verification.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.Violation.Rule;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.DynamicTest;

/** Histories, and the expected answer of the checker to each: one test for each row. */
final class HistoryTable implements Iterable<DynamicTest> {

    private final List<DynamicTest> rows = new ArrayList<>();
    private Consumer<HistoryScript> expectation = HistoryTable::accepts;

    /** The checker rejects the histories of the following rows by this rule, with this message. */
    HistoryTable rejected(Rule rule, String message) {
        expectation = history -> rejects(rule, message, history);
        return this;
    }

    /** The checker accepts the histories of the following rows. */
    HistoryTable accepted() {
        expectation = HistoryTable::accepts;
        return this;
    }

    HistoryTable row(String name, HistoryScript history) {
        Consumer<HistoryScript> expected = expectation;
        rows.add(DynamicTest.dynamicTest(name, () -> expected.accept(history)));
        return this;
    }

    @Override
    public Iterator<DynamicTest> iterator() {
        return rows.iterator();
    }

    private static void accepts(HistoryScript history) {
        assertThat(history.check()).isEmpty();
    }

    /** Expects a message that names events of the history, too. */
    private static void rejects(Rule rule, String message, HistoryScript history) {
        assertThat(history.check()).anySatisfy(violation -> {
            assertThat(violation.rule()).isEqualTo(rule);
            assertThat(violation.message()).contains(message);
            assertThat(history.events()).anyMatch(event -> violation.message().contains(event.name()));
        });
    }
}
